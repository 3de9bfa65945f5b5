# An agent with a tool, in plain Python: the model calls the tool, reads its result and answers.
#   GATEWAY_URL=http://localhost:8080 GATEWAY_TOKEN=sk-... python3 examples/agent.py 'Your question'
import json
import os
import sys
import urllib.request

url = os.environ.get("GATEWAY_URL", "http://localhost:8080").rstrip("/")
model = os.environ.get("GATEWAY_MODEL", "txta-plus")
token = os.environ.get("GATEWAY_TOKEN")
if not token:
    sys.exit("set GATEWAY_TOKEN to an API token; the first start of the gateway prints one")
most_turns = 8

schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
described = {"name": "weather", "description": "The weather in a city, now.", "parameters": schema}


def weather(city):
    return {"city": city, "degrees": 21, "sky": "clear"}


def ask(messages):
    tools = [{"type": "function", "function": described}]
    body = json.dumps({"model": model, "messages": messages, "tools": tools}).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(url + "/v1/chat/completions", body, headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["choices"][0]["message"]


# The directive in brackets makes the sandbox call the tool; a real model decides itself.
question = "Shall I take an umbrella in Lisbon? [[sim:tool]]"
messages = [{"role": "user", "content": sys.argv[1] if len(sys.argv) > 1 else question}]
for turn in range(most_turns):
    message = ask(messages)
    messages.append(message)
    if not message.get("tool_calls"):
        break
    for call in message["tool_calls"]:
        wanted = call["function"]
        try:
            result = json.dumps(weather(**json.loads(wanted["arguments"])))
        except (TypeError, ValueError) as error:
            # The model gets the error as the result of its call.
            result = json.dumps({"error": str(error)})
        print(f"tool: {wanted['name']}({wanted['arguments']}) -> {result}")
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
else:
    sys.exit(f"no answer within {most_turns} turns")
print("answer:", message["content"])
