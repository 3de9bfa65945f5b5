import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.Base64ImageSource;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.JsonOutputFormat;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageContentParam;
import com.anthropic.models.messages.MessageCountTokensParams;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.OutputConfig;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

final class Messages implements Client.Style {
    private static final long MAX_TOKENS = 4096;
    private static final long THINKING_TOKENS = 1024;
    private final Client.Table table;
    private final AnthropicClient client;

    Messages(Client.Table table) {
        this.table = table;
        this.client = AnthropicOkHttpClient.builder()
                .apiKey(table.token())
                .baseUrl(table.url())
                .maxRetries(0)
                .build();
    }

    @Override
    public Map<String, Object> ask(Client.Case of) throws Exception {
        var asked = MessageCreateParams.builder().model(of.model()).maxTokens(MAX_TOKENS);
        asked.addUserMessage(
                of.kind().equals("image") ? pictured(of.prompt()) : MessageContentParam.ofString(of.prompt()));
        return switch (of.kind()) {
            case "count" -> count(of);
            case "stream" -> stream(asked);
            case "reasoning" -> reasoning(asked, of.prompt());
            case "tools" -> tools(asked);
            case "structured" -> structured(asked);
            default -> answerOf(created(asked));
        };
    }

    private Message created(MessageCreateParams.Builder asked) {
        return client.messages().create(asked.build());
    }

    private static String textOf(Message answer) {
        return answer.content().stream()
                .flatMap(block -> block.text().stream())
                .map(block -> block.text())
                .collect(Collectors.joining());
    }

    private static Map<String, Object> answerOf(Message answer) {
        return Client.answer(
                textOf(answer), answer.usage().inputTokens(), answer.usage().outputTokens());
    }

    private MessageContentParam pictured(String prompt) {
        var image = Base64ImageSource.builder()
                .data(table.picture())
                .mediaType(Base64ImageSource.MediaType.IMAGE_PNG)
                .build();
        return MessageContentParam.ofContentBlockParams(
                List.of(ContentBlockParam.ofText(prompt), ContentBlockParam.ofImage(image)));
    }

    private Map<String, Object> count(Client.Case of) {
        var asked = MessageCountTokensParams.builder().model(of.model()).addUserMessage(of.prompt());
        return Map.of("count", client.messages().countTokens(asked.build()).inputTokens());
    }

    private Map<String, Object> stream(MessageCreateParams.Builder asked) {
        var whole = MessageAccumulator.create();
        try (var events = client.messages().createStreaming(asked.build())) {
            events.stream().forEach(whole::accumulate);
        }
        return answerOf(whole.message());
    }

    private Map<String, Object> reasoning(MessageCreateParams.Builder asked, String prompt) {
        var answer = created(asked.enabledThinking(THINKING_TOKENS));
        var thought = answer.content().stream()
                .flatMap(block -> block.thinking().stream())
                .map(block -> block.thinking())
                .collect(Collectors.joining());
        var again = created(asked.addMessage(answer).addUserMessage("and again " + prompt));
        return Map.of("text", textOf(answer), "reasoning", thought, "again", textOf(again));
    }

    private Map<String, Object> tools(MessageCreateParams.Builder asked) {
        asked.enabledThinking(THINKING_TOKENS)
                .addTool(Tool.builder()
                        .name(table.tool().name())
                        .description(table.tool().description())
                        .inputSchema(JsonValue.from(table.tool().parameters()))
                        .build());
        var cities = new ArrayList<String>();
        for (int step = 0; step < Client.MAX_STEPS; step++) {
            var answer = created(asked);
            var results = new ArrayList<ContentBlockParam>();
            for (var block : answer.content()) {
                if (!block.isToolUse()) continue;
                var call = block.asToolUse();
                var city = (String) call._input().convert(Map.class).get("city");
                cities.add(city);
                results.add(ContentBlockParam.ofToolResult(ToolResultBlockParam.builder()
                        .toolUseId(call.id())
                        .content(Client.resultOf(city))
                        .build()));
            }
            if (results.isEmpty()) return Map.of("cities", cities, "text", textOf(answer));
            asked.addMessage(answer).addUserMessage(MessageContentParam.ofContentBlockParams(results));
        }
        return Map.of("cities", cities);
    }

    private Map<String, Object> structured(MessageCreateParams.Builder asked) throws Exception {
        var form = JsonOutputFormat.builder().schema(JsonValue.from(table.schema())).build();
        asked.outputConfig(OutputConfig.builder().format(form).build());
        return Client.objectIn(textOf(created(asked)));
    }
}
