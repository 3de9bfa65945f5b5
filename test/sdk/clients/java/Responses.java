import com.openai.client.OpenAIClient;
import com.openai.core.JsonValue;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.Reasoning;
import com.openai.models.ReasoningEffort;
import com.openai.models.responses.EasyInputMessage;
import com.openai.models.responses.FunctionTool;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseFormatTextJsonSchemaConfig;
import com.openai.models.responses.ResponseIncludable;
import com.openai.models.responses.ResponseInputContent;
import com.openai.models.responses.ResponseInputImage;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.ResponseInputText;
import com.openai.models.responses.ResponseOutputItem;
import com.openai.models.responses.ResponseTextConfig;
import com.openai.models.responses.inputtokens.InputTokenCountParams;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

final class Responses implements Client.Style {
    private final Client.Table table;
    private final OpenAIClient client;

    Responses(Client.Table table) {
        this.table = table;
        this.client = Chat.openAI(table);
    }

    @Override
    public Map<String, Object> ask(Client.Case of) throws Exception {
        var asked = ResponseCreateParams.builder().model(of.model()).input(of.prompt());
        return switch (of.kind()) {
            case "count" -> count(of);
            case "stream" -> stream(asked);
            case "reasoning" -> reasoning(asked, of.prompt());
            case "tools" -> tools(asked, of.prompt());
            case "structured" -> structured(asked);
            case "image" -> answerOf(created(asked.inputOfResponse(List.of(pictured(of.prompt())))));
            default -> answerOf(created(asked));
        };
    }

    private Response created(ResponseCreateParams.Builder asked) {
        return client.responses().create(asked.build());
    }

    private static String textOf(Response answer) {
        return answer.output().stream()
                .flatMap(item -> item.message().stream())
                .flatMap(message -> message.content().stream())
                .flatMap(content -> content.outputText().stream())
                .map(part -> part.text())
                .collect(Collectors.joining());
    }

    private static Map<String, Object> answerOf(Response answer) {
        var usage = answer.usage().orElseThrow();
        return Client.answer(textOf(answer), usage.inputTokens(), usage.outputTokens());
    }

    private static EasyInputMessage.Builder user() {
        return EasyInputMessage.builder().role(EasyInputMessage.Role.USER);
    }

    private static ResponseInputItem user(String text) {
        return ResponseInputItem.ofEasyInputMessage(user().content(text).build());
    }

    private ResponseInputItem pictured(String prompt) {
        var image = ResponseInputImage.builder()
                .imageUrl("data:image/png;base64," + table.picture())
                .detail(ResponseInputImage.Detail.AUTO)
                .build();
        var text = ResponseInputText.builder().text(prompt).build();
        return ResponseInputItem.ofEasyInputMessage(user()
                .contentOfResponseInputMessageContentList(
                        List.of(ResponseInputContent.ofInputText(text), ResponseInputContent.ofInputImage(image)))
                .build());
    }

    /** An item of an answer as one of the next question. */
    private static ResponseInputItem back(ResponseOutputItem item) {
        if (item.isReasoning()) return ResponseInputItem.ofReasoning(item.asReasoning());
        if (item.isFunctionCall()) return ResponseInputItem.ofFunctionCall(item.asFunctionCall());
        return ResponseInputItem.ofResponseOutputMessage(item.asMessage());
    }

    private static ResponseCreateParams.Builder sealed(ResponseCreateParams.Builder asked) {
        return asked.store(false)
                .addInclude(ResponseIncludable.REASONING_ENCRYPTED_CONTENT)
                .reasoning(Reasoning.builder()
                        .effort(ReasoningEffort.HIGH)
                        .summary(Reasoning.Summary.AUTO)
                        .build());
    }

    private Map<String, Object> count(Client.Case of) {
        var asked = InputTokenCountParams.builder().model(of.model()).input(of.prompt());
        return Map.of("count", client.responses().inputTokens().count(asked.build()).inputTokens());
    }

    private Map<String, Object> stream(ResponseCreateParams.Builder asked) {
        var whole = ResponseAccumulator.create();
        try (var events = client.responses().createStreaming(asked.build())) {
            events.stream().forEach(whole::accumulate);
        }
        return answerOf(whole.response());
    }

    private Map<String, Object> reasoning(ResponseCreateParams.Builder asked, String prompt) {
        var items = new ArrayList<>(List.of(user(prompt)));
        var answer = created(sealed(asked).inputOfResponse(items));
        var thought = answer.output().stream()
                .flatMap(item -> item.reasoning().stream())
                .flatMap(item -> item.summary().stream())
                .map(part -> part.text())
                .collect(Collectors.joining());
        answer.output().forEach(item -> items.add(back(item)));
        items.add(user("and again " + prompt));
        var again = created(asked.inputOfResponse(items));
        return Map.of("text", textOf(answer), "reasoning", thought, "again", textOf(again));
    }

    private Map<String, Object> tools(ResponseCreateParams.Builder asked, String prompt) throws Exception {
        sealed(asked)
                .addTool(FunctionTool.builder()
                        .name(table.tool().name())
                        .description(table.tool().description())
                        .parameters(JsonValue.from(table.tool().parameters()))
                        .strict(false)
                        .build());
        var items = new ArrayList<>(List.of(user(prompt)));
        var cities = new ArrayList<String>();
        for (int step = 0; step < Client.MAX_STEPS; step++) {
            var answer = created(asked.inputOfResponse(items));
            var calls = answer.output().stream()
                    .flatMap(item -> item.functionCall().stream())
                    .toList();
            if (calls.isEmpty()) return Map.of("cities", cities, "text", textOf(answer));
            answer.output().forEach(item -> items.add(back(item)));
            for (var call : calls) {
                var city = Client.cityIn(call.arguments());
                cities.add(city);
                items.add(ResponseInputItem.ofFunctionCallOutput(ResponseInputItem.FunctionCallOutput.builder()
                        .callId(call.callId())
                        .output(Client.resultOf(city))
                        .build()));
            }
        }
        return Map.of("cities", cities);
    }

    private Map<String, Object> structured(ResponseCreateParams.Builder asked) throws Exception {
        var form = ResponseFormatTextJsonSchemaConfig.builder()
                .name("report")
                .schema(JsonValue.from(table.schema()))
                .strict(true)
                .build();
        asked.text(ResponseTextConfig.builder().format(form).build());
        return Client.objectIn(textOf(created(asked)));
    }
}
