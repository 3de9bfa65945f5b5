import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.ReasoningEffort;
import com.openai.models.ResponseFormatJsonSchema;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionContentPart;
import com.openai.models.chat.completions.ChatCompletionContentPartImage;
import com.openai.models.chat.completions.ChatCompletionContentPartText;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

final class Chat implements Client.Style {
    private final Client.Table table;
    private final OpenAIClient client;

    Chat(Client.Table table) {
        this.table = table;
        this.client = openAI(table);
    }

    static OpenAIClient openAI(Client.Table table) {
        return OpenAIOkHttpClient.builder()
                .apiKey(table.token())
                .baseUrl(table.url() + "/v1")
                .maxRetries(0)
                .build();
    }

    @Override
    public Map<String, Object> ask(Client.Case of) throws Exception {
        var asked = ChatCompletionCreateParams.builder().model(of.model());
        if (of.kind().equals("image")) asked.addUserMessageOfArrayOfContentParts(pictured(of.prompt()));
        else asked.addUserMessage(of.prompt());
        return switch (of.kind()) {
            case "stream" -> stream(asked);
            case "reasoning" -> reasoning(asked, of.prompt());
            case "tools" -> tools(asked);
            case "structured" -> structured(asked);
            default -> answerOf(client.chat().completions().create(asked.build()));
        };
    }

    private ChatCompletionMessage said(ChatCompletionCreateParams.Builder asked) {
        return client.chat().completions().create(asked.build()).choices().get(0).message();
    }

    private static Map<String, Object> answerOf(ChatCompletion answer) {
        var usage = answer.usage().orElseThrow();
        var text = answer.choices().get(0).message().content().orElse("");
        return Client.answer(text, usage.promptTokens(), usage.completionTokens());
    }

    private List<ChatCompletionContentPart> pictured(String prompt) {
        var image = ChatCompletionContentPartImage.ImageUrl.builder()
                .url("data:image/png;base64," + table.picture())
                .build();
        return List.of(
                ChatCompletionContentPart.ofText(
                        ChatCompletionContentPartText.builder().text(prompt).build()),
                ChatCompletionContentPart.ofImageUrl(
                        ChatCompletionContentPartImage.builder().imageUrl(image).build()));
    }

    private Map<String, Object> stream(ChatCompletionCreateParams.Builder asked) {
        asked.streamOptions(
                ChatCompletionStreamOptions.builder().includeUsage(true).build());
        var whole = ChatCompletionAccumulator.create();
        try (var chunks = client.chat().completions().createStreaming(asked.build())) {
            chunks.stream().forEach(whole::accumulate);
        }
        return answerOf(whole.chatCompletion());
    }

    private Map<String, Object> reasoning(ChatCompletionCreateParams.Builder asked, String prompt) {
        // Not every upstream shows its reasoning unasked.
        asked.reasoningEffort(ReasoningEffort.HIGH)
                .putAdditionalBodyProperty("include_reasoning", JsonValue.from(true));
        var message = said(asked);
        var again = said(asked.addMessage(message).addUserMessage("and again " + prompt));
        var thought = message._allProperties().get("reasoning_content").convert(String.class);
        return Map.of(
                "text", message.content().orElse(""), "reasoning", thought, "again", again.content().orElse(""));
    }

    private Map<String, Object> tools(ChatCompletionCreateParams.Builder asked) throws Exception {
        asked.addFunctionTool(FunctionDefinition.builder()
                .name(table.tool().name())
                .description(table.tool().description())
                .parameters(JsonValue.from(table.tool().parameters()))
                .build());
        var cities = new ArrayList<String>();
        for (int step = 0; step < Client.MAX_STEPS; step++) {
            var message = said(asked);
            var calls = message.toolCalls().orElse(List.of());
            if (calls.isEmpty())
                return Map.of("cities", cities, "text", message.content().orElse(""));
            asked.addMessage(message);
            for (var each : calls) {
                var call = each.asFunction();
                var city = Client.cityIn(call.function().arguments());
                cities.add(city);
                asked.addMessage(ChatCompletionToolMessageParam.builder()
                        .toolCallId(call.id())
                        .content(Client.resultOf(city))
                        .build());
            }
        }
        return Map.of("cities", cities);
    }

    private Map<String, Object> structured(ChatCompletionCreateParams.Builder asked) throws Exception {
        var schema = ResponseFormatJsonSchema.JsonSchema.builder()
                .name("report")
                .schema(JsonValue.from(table.schema()))
                .strict(true)
                .build();
        asked.responseFormat(ResponseFormatJsonSchema.builder().jsonSchema(schema).build());
        return Client.objectIn(said(asked).content().orElseThrow());
    }
}
