"""The official Python SDKs of all text styles: reads a table of cases, prints what each SDK made of them.

The table is JSON: {url, token, schema, tool, picture, cases: [{id, style, kind, model, prompt}]}. Each line
printed is one outcome. Judges nothing: test/sdk/clients.test.ts does.
"""

import base64
import json
import sys

import anthropic
import openai
from google import genai
from google.genai import errors as genai_errors
from google.genai import types

table = json.load(open(sys.argv[1]))
url, token, schema, tool, picture = (table[name] for name in ("url", "token", "schema", "tool", "picture"))
data_uri = "data:image/png;base64," + picture
max_steps = 6


def result_of(city):
    return "sunny in " + city


# chat -----------------------------------------------------------------------------------------------

chat = openai.OpenAI(api_key=token, base_url=url + "/v1", max_retries=0)


def user(text):
    return {"role": "user", "content": text}


def chat_usage(usage):
    return {"input": usage.prompt_tokens, "output": usage.completion_tokens}


def chat_plain(model, prompt):
    answer = chat.chat.completions.create(model=model, messages=[user(prompt)])
    return {"text": answer.choices[0].message.content, "usage": chat_usage(answer.usage)}


def chat_stream(model, prompt):
    text, usage = "", None
    stream = chat.chat.completions.create(
        model=model, messages=[user(prompt)], stream=True, stream_options={"include_usage": True}
    )
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
    return {"text": text, "usage": chat_usage(usage)}


def chat_reasoning(model, prompt):
    messages = [user(prompt)]
    # Not every upstream shows its reasoning unasked.
    asked = {"model": model, "reasoning_effort": "high", "extra_body": {"include_reasoning": True}}
    answer = chat.chat.completions.create(messages=messages, **asked)
    message = answer.choices[0].message
    messages += [message.model_dump(exclude_none=True), user("and again " + prompt)]
    again = chat.chat.completions.create(messages=messages, **asked)
    reasoning = (message.model_extra or {}).get("reasoning_content")
    return {"text": message.content, "reasoning": reasoning, "again": again.choices[0].message.content}


def chat_tools(model, prompt):
    messages, cities = [user(prompt)], []
    tools = [{"type": "function", "function": tool}]
    for _ in range(max_steps):
        message = chat.chat.completions.create(model=model, messages=messages, tools=tools).choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return {"cities": cities, "text": message.content}
        for call in message.tool_calls:
            city = json.loads(call.function.arguments)["city"]
            cities.append(city)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result_of(city)})
    return {"cities": cities}


def chat_structured(model, prompt):
    form = {"type": "json_schema", "json_schema": {"name": "report", "schema": schema, "strict": True}}
    answer = chat.chat.completions.create(model=model, messages=[user(prompt)], response_format=form)
    return {"object": json.loads(answer.choices[0].message.content)}


def chat_image(model, prompt):
    content = [{"type": "text", "text": prompt}, {"type": "image_url", "image_url": {"url": data_uri}}]
    answer = chat.chat.completions.create(model=model, messages=[user(content)])
    return {"text": answer.choices[0].message.content}


# responses ------------------------------------------------------------------------------------------

sealed = {"store": False, "include": ["reasoning.encrypted_content"]}


def responses_usage(usage):
    return {"input": usage.input_tokens, "output": usage.output_tokens}


def responses_plain(model, prompt):
    answer = chat.responses.create(model=model, input=prompt)
    return {"text": answer.output_text, "usage": responses_usage(answer.usage)}


def responses_stream(model, prompt):
    text, usage = "", None
    for event in chat.responses.create(model=model, input=prompt, stream=True):
        if event.type == "response.output_text.delta":
            text += event.delta
        if event.type == "response.completed":
            usage = event.response.usage
    return {"text": text, "usage": responses_usage(usage)}


def responses_reasoning(model, prompt):
    reasoning = {"effort": "high", "summary": "auto"}
    items = [user(prompt)]
    answer = chat.responses.create(model=model, input=items, reasoning=reasoning, **sealed)
    thought = "".join(
        part.text for item in answer.output if item.type == "reasoning" for part in item.summary
    )
    items += [item.model_dump(exclude_none=True) for item in answer.output] + [user("and again " + prompt)]
    again = chat.responses.create(model=model, input=items, reasoning=reasoning, **sealed)
    return {"text": answer.output_text, "reasoning": thought, "again": again.output_text}


def responses_tools(model, prompt):
    items, cities = [user(prompt)], []
    tools = [{"type": "function", "strict": False, **tool}]
    for _ in range(max_steps):
        answer = chat.responses.create(model=model, input=items, tools=tools, **sealed)
        calls = [item for item in answer.output if item.type == "function_call"]
        items += [item.model_dump(exclude_none=True) for item in answer.output]
        if not calls:
            return {"cities": cities, "text": answer.output_text}
        for call in calls:
            city = json.loads(call.arguments)["city"]
            cities.append(city)
            output = {"type": "function_call_output", "call_id": call.call_id, "output": result_of(city)}
            items.append(output)
    return {"cities": cities}


def responses_structured(model, prompt):
    form = {"format": {"type": "json_schema", "name": "report", "schema": schema, "strict": True}}
    return {"object": json.loads(chat.responses.create(model=model, input=prompt, text=form).output_text)}


def responses_image(model, prompt):
    content = [
        {"type": "input_text", "text": prompt},
        {"type": "input_image", "image_url": data_uri, "detail": "auto"},
    ]
    return {"text": chat.responses.create(model=model, input=[user(content)]).output_text}


def responses_count(model, prompt):
    return {"count": chat.responses.input_tokens.count(model=model, input=prompt).input_tokens}


# messages -------------------------------------------------------------------------------------------

messages_api = anthropic.Anthropic(api_key=token, base_url=url, max_retries=0).messages
max_tokens = 4096
thinking = {"type": "enabled", "budget_tokens": 1024}


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def messages_usage(usage):
    return {"input": usage.input_tokens, "output": usage.output_tokens}


def messages_plain(model, prompt):
    answer = messages_api.create(model=model, max_tokens=max_tokens, messages=[user(prompt)])
    return {"text": text_of(answer), "usage": messages_usage(answer.usage)}


def messages_stream(model, prompt):
    with messages_api.stream(model=model, max_tokens=max_tokens, messages=[user(prompt)]) as stream:
        text = "".join(stream.text_stream)
        return {"text": text, "usage": messages_usage(stream.get_final_message().usage)}


def messages_reasoning(model, prompt):
    turns = [user(prompt)]
    asked = {"model": model, "max_tokens": max_tokens, "thinking": thinking}
    answer = messages_api.create(messages=turns, **asked)
    thought = "".join(block.thinking for block in answer.content if block.type == "thinking")
    turns += [{"role": "assistant", "content": answer.content}, user("and again " + prompt)]
    again = messages_api.create(messages=turns, **asked)
    return {"text": text_of(answer), "reasoning": thought, "again": text_of(again)}


def messages_tools(model, prompt):
    turns, cities = [user(prompt)], []
    tools = [{"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}]
    asked = {"model": model, "max_tokens": max_tokens, "thinking": thinking, "tools": tools}
    for _ in range(max_steps):
        answer = messages_api.create(messages=turns, **asked)
        turns.append({"role": "assistant", "content": answer.content})
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return {"cities": cities, "text": text_of(answer)}
        cities += [call.input["city"] for call in calls]
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": result_of(call.input["city"])}
            for call in calls
        ]
        turns.append({"role": "user", "content": results})
    return {"cities": cities}


def messages_structured(model, prompt):
    form = {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
    answer = messages_api.create(
        model=model, max_tokens=max_tokens, messages=[user(prompt)], extra_body=form
    )
    return {"object": json.loads(text_of(answer))}


def messages_image(model, prompt):
    source = {"type": "base64", "media_type": "image/png", "data": picture}
    content = [{"type": "text", "text": prompt}, {"type": "image", "source": source}]
    answer = messages_api.create(model=model, max_tokens=max_tokens, messages=[user(content)])
    return {"text": text_of(answer)}


def messages_count(model, prompt):
    return {"count": messages_api.count_tokens(model=model, messages=[user(prompt)]).input_tokens}


# generate -------------------------------------------------------------------------------------------

# Kept: it closes its connections when it is no longer referred to.
once = types.HttpRetryOptions(attempts=1)
google_client = genai.Client(
    api_key=token, http_options=types.HttpOptions(base_url=url + "/vendorg", retry_options=once)
)
google = google_client.models


def said(*parts):
    return types.Content(role="user", parts=list(parts))


def words(text):
    return types.Part(text=text)


def generate_usage(usage):
    output = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    return {"input": usage.prompt_token_count, "output": output}


def generate_plain(model, prompt):
    answer = google.generate_content(model=model, contents=prompt)
    return {"text": answer.text, "usage": generate_usage(answer.usage_metadata)}


def generate_stream(model, prompt):
    text, usage = "", None
    for chunk in google.generate_content_stream(model=model, contents=prompt):
        text += chunk.text or ""
        usage = chunk.usage_metadata or usage
    return {"text": text, "usage": generate_usage(usage)}


thoughts = types.ThinkingConfig(include_thoughts=True, thinking_budget=1024)


def generate_reasoning(model, prompt):
    config = types.GenerateContentConfig(thinking_config=thoughts)
    contents = [said(words(prompt))]
    answer = google.generate_content(model=model, contents=contents, config=config)
    content = answer.candidates[0].content
    thought = "".join(part.text or "" for part in content.parts if part.thought)
    contents += [content, said(words("and again " + prompt))]
    again = google.generate_content(model=model, contents=contents, config=config)
    return {"text": answer.text, "reasoning": thought, "again": again.text}


def generate_tools(model, prompt):
    declared = types.FunctionDeclaration(
        name=tool["name"], description=tool["description"], parameters_json_schema=tool["parameters"]
    )
    config = types.GenerateContentConfig(
        thinking_config=thoughts,
        tools=[types.Tool(function_declarations=[declared])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents, cities = [said(words(prompt))], []
    for _ in range(max_steps):
        answer = google.generate_content(model=model, contents=contents, config=config)
        contents.append(answer.candidates[0].content)
        calls = answer.function_calls or []
        if not calls:
            return {"cities": cities, "text": answer.text}
        cities += [call.args["city"] for call in calls]
        results = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=call.id, name=call.name, response={"result": result_of(call.args["city"])}
                )
            )
            for call in calls
        ]
        contents.append(said(*results))
    return {"cities": cities}


def generate_structured(model, prompt):
    config = types.GenerateContentConfig(
        response_mime_type="application/json", response_json_schema=schema
    )
    return {"object": json.loads(google.generate_content(model=model, contents=prompt, config=config).text)}


def generate_image(model, prompt):
    image = types.Part.from_bytes(data=base64.b64decode(picture), mime_type="image/png")
    answer = google.generate_content(model=model, contents=[said(words(prompt), image)])
    return {"text": answer.text}


def generate_count(model, prompt):
    return {"count": google.count_tokens(model=model, contents=prompt).total_tokens}


def outcome_of(case):
    # A failure is asked for like a plain answer.
    kind = "plain" if case["kind"] == "error" else case["kind"]
    try:
        return globals()[case["style"] + "_" + kind](case["model"], case["prompt"])
    except (openai.APIStatusError, anthropic.APIStatusError) as error:
        return {"error": {"class": type(error).__name__, "status": error.status_code}}
    except genai_errors.APIError as error:
        return {"error": {"class": type(error).__name__, "status": error.code}}
    except Exception as error:
        return {"problem": type(error).__name__ + ": " + str(error)}


for each in table["cases"]:
    print(json.dumps({"id": each["id"], **outcome_of(each)}), flush=True)
