# The first calls in plain Python: the model list, one answer, one stream.
#   GATEWAY_URL=http://localhost:8080 GATEWAY_TOKEN=sk-... python3 examples/first_call.py
import json
import os
import sys
import urllib.error
import urllib.request

url = os.environ.get("GATEWAY_URL", "http://localhost:8080").rstrip("/")
model = os.environ.get("GATEWAY_MODEL", "txta-plus")
token = os.environ.get("GATEWAY_TOKEN")
if not token:
    sys.exit("set GATEWAY_TOKEN to an API token; the first start of the gateway prints one")


def ask(path, body=None):
    """The open answer; with a body it is a POST."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, headers)
    try:
        return urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        # The body has the reason; give the id to the operator.
        sys.exit(f"{error.code}: {json.load(error)['error']['message']}")


with ask("/v1/models") as answer:
    print("models:", ", ".join(row["id"] for row in json.load(answer)["data"]))

messages = [{"role": "user", "content": "Say hello."}]
with ask("/v1/chat/completions", {"model": model, "messages": messages}) as answer:
    body = json.load(answer)
print("answer:", body["choices"][0]["message"]["content"])
print(f"usage: {body['usage']['prompt_tokens']} in, {body['usage']['completion_tokens']} out")

wish = {"model": model, "messages": messages, "stream": True}
wish["stream_options"] = {"include_usage": True}
print("stream: ", end="")
with ask("/v1/chat/completions", wish) as answer:
    for line in answer:
        event = line.decode().strip().removeprefix("data: ")
        if event in ("", "[DONE]"):
            continue
        chunk = json.loads(event)
        # The last chunk has only the usage.
        if chunk.get("usage"):
            usage = chunk["usage"]
            print(f"\nusage: {usage['prompt_tokens']} in, {usage['completion_tokens']} out")
        for choice in chunk["choices"]:
            print(choice["delta"].get("content") or "", end="", flush=True)
