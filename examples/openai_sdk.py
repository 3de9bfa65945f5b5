# The gateway through the official OpenAI package (pip install openai): one answer, one stream.
#   GATEWAY_URL=http://localhost:8080 GATEWAY_TOKEN=sk-... python3 examples/openai_sdk.py
import os

from openai import OpenAI

url = os.environ.get("GATEWAY_URL", "http://localhost:8080")
model = os.environ.get("GATEWAY_MODEL", "txta-plus")
client = OpenAI(api_key=os.environ["GATEWAY_TOKEN"], base_url=f"{url}/v1", timeout=60)
messages = [{"role": "user", "content": "Say hello."}]

answer = client.chat.completions.create(model=model, messages=messages)
print("answer:", answer.choices[0].message.content)
print(f"usage: {answer.usage.prompt_tokens} in, {answer.usage.completion_tokens} out")

print("stream: ", end="")
options = {"include_usage": True}
for chunk in client.chat.completions.create(
    model=model, messages=messages, stream=True, stream_options=options
):
    for choice in chunk.choices:
        print(choice.delta.content or "", end="", flush=True)
    if chunk.usage:
        print(f"\nusage: {chunk.usage.prompt_tokens} in, {chunk.usage.completion_tokens} out")
