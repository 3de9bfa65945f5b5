// The official Java SDKs of the styles chat, responses and messages: reads a table of cases, prints what each
// SDK made of them, one line of JSON each. Judges nothing: test/sdk/clients.test.ts does.
import com.anthropic.errors.AnthropicServiceException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.errors.OpenAIServiceException;
import java.io.File;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

public final class Client {
    record Case(String id, String style, String kind, String model, String prompt) {}

    record Tool(String name, String description, Map<String, Object> parameters) {}

    record Table(
            String url, String token, String picture, Map<String, Object> schema, Tool tool, List<Case> cases) {}

    interface Style {
        Map<String, Object> ask(Case of) throws Exception;
    }

    static final int MAX_STEPS = 6;
    private static final ObjectMapper json =
            new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    static String resultOf(String city) {
        return "sunny in " + city;
    }

    static String cityIn(String arguments) throws Exception {
        return json.readTree(arguments).get("city").asText();
    }

    static Map<String, Object> objectIn(String text) throws Exception {
        return Map.of("object", json.readTree(text));
    }

    static Map<String, Object> answer(String text, long input, long output) {
        return Map.of("text", text, "usage", Map.of("input", input, "output", output));
    }

    private static Style styleOf(String name, Table table) {
        return switch (name) {
            case "chat" -> new Chat(table);
            case "responses" -> new Responses(table);
            case "messages" -> new Messages(table);
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static Map<String, Object> outcomeOf(Style style, Case of) {
        try {
            return style.ask(of);
        } catch (OpenAIServiceException error) {
            return refusal(error, error.statusCode());
        } catch (AnthropicServiceException error) {
            return refusal(error, error.statusCode());
        } catch (Exception error) {
            return Map.of("problem", error.toString());
        }
    }

    private static Map<String, Object> refusal(Exception error, int status) {
        return Map.of("error", Map.of("class", error.getClass().getSimpleName(), "status", status));
    }

    public static void main(String[] args) throws Exception {
        var table = json.readValue(new File(args[0]), Table.class);
        var styles = new HashMap<String, Style>();
        for (var each : table.cases()) {
            var style = styles.computeIfAbsent(each.style(), name -> styleOf(name, table));
            var outcome = new LinkedHashMap<String, Object>(Map.of("id", each.id()));
            outcome.putAll(outcomeOf(style, each));
            System.out.println(json.writeValueAsString(outcome));
        }
        // The threads that the SDKs keep for further calls would hold the program for a minute.
        System.exit(0);
    }
}
