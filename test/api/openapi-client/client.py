"""A program written against the clients that openapi-python-client makes of the two documents: it asks every
interface, and prints by name the status and the type of what came back."""
import importlib
import json
import sys
import time

from gateway_client import AuthenticatedClient, models

url, token, admin_token = sys.argv[1:4]
client = AuthenticatedClient(base_url=url, token=token, timeout=60)
outcomes: dict[str, list] = {}
pause_s, max_polls = 0.2, 300


def ask(tag: str, operation: str, *args, **kwargs):
    module = importlib.import_module(f"gateway_client.api.{tag}.{operation}")
    answer = module.sync_detailed(*args, client=client, **kwargs)
    outcomes[operation] = [int(answer.status_code), type(answer.parsed).__name__]
    return answer.parsed


def until(poll, is_over):
    for _ in range(max_polls):
        seen = poll()
        if is_over(seen):
            return seen
        time.sleep(pause_s)
    raise TimeoutError("it does not end")


def texts() -> None:
    model = "txta-plus"
    said = [{"role": "user", "content": "Say hello."}]
    chat = models.ChatRequest.from_dict({"model": model, "messages": said})
    assert ask("text", "create_chat_completion", body=chat).choices[0].message.content
    response = models.ResponsesRequest.from_dict({"model": model, "input": "Say hello."})
    ask("text", "create_response", body=response)
    ask("text", "count_response_tokens", body=response)
    message = models.MessagesRequest.from_dict({"model": model, "messages": said, "max_tokens": 32})
    ask("text", "create_message", body=message, msgapi_version="2023-06-01")
    counted = models.CountTokensRequest.from_dict({"model": model, "messages": said})
    assert ask("text", "count_message_tokens", body=counted).input_tokens > 0
    embedded = {"model": "txta-embed", "input": ["one", "two"], "dimensions": 4}
    ask("text", "create_embeddings", body=models.EmbeddingsRequest.from_dict(embedded))
    contents = {"contents": [{"role": "user", "parts": [{"text": "Say hello."}]}]}
    version = ("v1beta", model)
    ask("text", "generate_content", *version, body=models.GenerateRequest.from_dict(contents))
    counting = models.GenerateCountRequest.from_dict(contents)
    ask("text", "count_generate_tokens", *version, body=counting)
    content = {"content": {"parts": [{"text": "one"}]}}
    ask("text", "embed_content", "v1beta", "txta-embed", body=models.EmbedRequest.from_dict(content))


def images() -> None:
    drawn = {"model": "imga-plus", "prompt": "a boat", "size": "64x64", "stream": False}
    body = models.ImageGenerationRequest.from_dict(drawn)
    assert ask("images", "create_images", body=body, idempotency_key="a-python-boat").data
    edit = {"model": "imga-edit", "prompt": "at night", "images": [{"image_url": "https://example.com/a.png"}]}
    ask("images", "edit_images", body=models.ImageEditRequest.from_dict(edit))
    task = models.ImageTaskRequest.from_dict({"model_name": "imgvendor-v1", "prompt": "a boat"})
    made = ask("image_tasks", "create_image_task", body=task)
    ended = ("succeed", "failed")
    seen = until(
        lambda: ask("image_tasks", "get_image_task", made.data.task_id),
        lambda task: task.data.task_status in ended,
    )
    assert seen.data.task_result.images[0].url
    ask("image_tasks", "list_image_tasks")


def videos() -> None:
    wanted = {"model": "vfb-1.1-t2v", "prompt": "a boat", "seconds": 3, "resolution": "720p"}
    made = ask("videos", "create_video", body=models.VideoRequest.from_dict(wanted))
    ended = ("completed", "failed", "cancelled")
    seen = until(lambda: ask("videos", "get_video", made.id), lambda video: video.status in ended)
    assert seen.url
    assert len(ask("videos", "download_video", made.id).payload.read()) > 1_000
    ask("videos", "list_videos", limit=5)
    ask("videos", "delete_video", made.id)


def operations() -> None:
    content = [{"type": "text", "text": "a boat"}]
    native = {"model": "vidmodel-1-0-pro", "content": content, "seed": 7}
    made = ask("native_video_tasks", "create_native_video_task", body=models.NativeVideoRequest.from_dict(native))
    until(
        lambda: ask("native_video_tasks", "get_native_video_task", made.id),
        lambda task: task.status not in ("queued", "running"),
    )
    ask("native_video_tasks", "list_native_video_tasks")
    asked = {"instances": [{"prompt": "a boat"}], "parameters": {"durationSeconds": "4", "sampleCount": 1}}
    body = models.LongRunningRequest.from_dict(asked)
    begun = ask("long_running_videos", "create_long_running_video", "v1beta", "vendorg-video-1", body=body)
    name = begun.name.removeprefix("operations/")
    done = until(
        lambda: ask("long_running_videos", "get_long_running_video", "v1beta", name),
        lambda operation: operation.done,
    )
    assert done.response.generate_video_response.generated_samples[0].video.uri


def own() -> None:
    ask("models", "list_models")
    ask("models", "get_model", "txta-plus")
    ask("own_account", "get_usage", by="model,unit")
    ask("own_account", "get_bills")
    ask("gateway", "list_keys")
    ask("gateway", "is_ready")


def administration() -> None:
    from admin_client import AuthenticatedClient as AdminClient
    from admin_client import models as admin
    from admin_client.api.accounts import create_account, list_accounts
    from admin_client.api.models_and_prices import create_price
    from admin_client.api.tokens import create_token

    # Imported one by one: what was generated can also be loaded.
    administrator = AdminClient(base_url=url, token=admin_token)

    def note(name: str, answer):
        outcomes[name] = [int(answer.status_code), type(answer.parsed).__name__]
        return answer.parsed

    account = admin.AccountDeclaration.from_dict({"name": "from-python", "balance": "5.00"})
    note("create_account", create_account.sync_detailed(client=administrator, body=account))
    wanted = admin.TokenDeclaration.from_dict({"account": "from-python", "name": "first"})
    note("create_token", create_token.sync_detailed(client=administrator, body=wanted))
    rates = {"model": "txta-plus", "unit": "token", "per_million": {"input": "1.00", "output": "2.00"}}
    price = admin.TokenPrice.from_dict({**rates, "account": "from-python"})
    note("create_price", create_price.sync_detailed(client=administrator, body=price))
    listed = note("list_accounts", list_accounts.sync_detailed(client=administrator))
    assert any(item.balance == "5.00" for item in listed.items)


for part in (texts, images, videos, operations, own, administration):
    part()
print(json.dumps(outcomes))
