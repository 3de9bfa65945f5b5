# The gateway through the official Anthropic package (pip install anthropic): once, and as a stream.
#   GATEWAY_URL=http://localhost:8080 GATEWAY_TOKEN=sk-... python3 examples/anthropic_sdk.py
import os

from anthropic import Anthropic

url = os.environ.get("GATEWAY_URL", "http://localhost:8080")
model = os.environ.get("GATEWAY_MODEL", "txta-plus")
# This package adds /v1.
client = Anthropic(api_key=os.environ["GATEWAY_TOKEN"], base_url=url, timeout=60)
messages = [{"role": "user", "content": "Say hello."}]

answer = client.messages.create(model=model, max_tokens=200, messages=messages)
print("answer:", "".join(block.text for block in answer.content if block.type == "text"))
print(f"usage: {answer.usage.input_tokens} in, {answer.usage.output_tokens} out")

print("stream: ", end="")
with client.messages.stream(model=model, max_tokens=200, messages=messages) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)
    usage = stream.get_final_message().usage
print(f"\nusage: {usage.input_tokens} in, {usage.output_tokens} out")
