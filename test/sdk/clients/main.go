// The official Go SDKs of all text styles: reads a table of cases, prints what each SDK made of them, one
// line of JSON each. Judges nothing: test/sdk/clients.test.ts does.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"
)

type fields = map[string]any

type oneCase struct{ ID, Style, Kind, Model, Prompt string }

var table struct {
	URL, Token, Picture string
	Schema              fields
	Tool                struct {
		Name, Description string
		Parameters        fields
	}
	Cases []oneCase
}

var ctx = context.Background()

const maxSteps = 6
const maxTokens = 4096

func resultOf(city string) string { return "sunny in " + city }

func cityIn(arguments string) (string, error) {
	var given struct{ City string }
	err := json.Unmarshal([]byte(arguments), &given)
	return given.City, err
}

func objectIn(text string) (fields, error) {
	var object any
	err := json.Unmarshal([]byte(text), &object)
	return fields{"object": object}, err
}

// chat

func newOpenAI() openai.Client {
	return openai.NewClient(option.WithAPIKey(table.Token), option.WithBaseURL(table.URL+"/v1"), option.WithMaxRetries(0))
}

func chatCase(of oneCase) (fields, error) {
	client := newOpenAI()
	asked := openai.ChatCompletionNewParams{
		Model:    of.Model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(of.Prompt)},
	}
	switch of.Kind {
	case "stream":
		asked.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
		stream := client.Chat.Completions.NewStreaming(ctx, asked)
		whole := openai.ChatCompletionAccumulator{}
		for stream.Next() {
			whole.AddChunk(stream.Current())
		}
		if stream.Err() != nil {
			return nil, stream.Err()
		}
		return chatAnswer(&whole.ChatCompletion), nil
	case "reasoning":
		asked.ReasoningEffort = shared.ReasoningEffortHigh
		// Not every upstream shows its reasoning unasked.
		shown := option.WithJSONSet("include_reasoning", true)
		answer, err := client.Chat.Completions.New(ctx, asked, shown)
		if err != nil {
			return nil, err
		}
		message := answer.Choices[0].Message
		asked.Messages = append(asked.Messages, message.ToParam(), openai.UserMessage("and again "+of.Prompt))
		again, err := client.Chat.Completions.New(ctx, asked, shown)
		if err != nil {
			return nil, err
		}
		var thought string
		_ = json.Unmarshal([]byte(message.JSON.ExtraFields["reasoning_content"].Raw()), &thought)
		return fields{"text": message.Content, "reasoning": thought, "again": again.Choices[0].Message.Content}, nil
	case "tools":
		return chatTools(client, asked)
	case "structured":
		form := shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "report", Schema: table.Schema, Strict: openai.Bool(true)}
		asked.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: form}
	case "image":
		image := openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + table.Picture}
		parts := []openai.ChatCompletionContentPartUnionParam{openai.TextContentPart(of.Prompt), openai.ImageContentPart(image)}
		asked.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage(parts)}
	}
	answer, err := client.Chat.Completions.New(ctx, asked)
	if err != nil {
		return nil, err
	}
	if of.Kind == "structured" {
		return objectIn(answer.Choices[0].Message.Content)
	}
	return chatAnswer(answer), nil
}

func chatAnswer(answer *openai.ChatCompletion) fields {
	usage := fields{"input": answer.Usage.PromptTokens, "output": answer.Usage.CompletionTokens}
	return fields{"text": answer.Choices[0].Message.Content, "usage": usage}
}

func chatTools(client openai.Client, asked openai.ChatCompletionNewParams) (fields, error) {
	tool := shared.FunctionDefinitionParam{
		Name:        table.Tool.Name,
		Description: openai.String(table.Tool.Description),
		Parameters:  table.Tool.Parameters,
	}
	asked.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(tool)}
	cities := []string{}
	for range maxSteps {
		answer, err := client.Chat.Completions.New(ctx, asked)
		if err != nil {
			return nil, err
		}
		message := answer.Choices[0].Message
		if len(message.ToolCalls) == 0 {
			return fields{"cities": cities, "text": message.Content}, nil
		}
		asked.Messages = append(asked.Messages, message.ToParam())
		for _, call := range message.ToolCalls {
			city, err := cityIn(call.Function.Arguments)
			if err != nil {
				return nil, err
			}
			cities = append(cities, city)
			asked.Messages = append(asked.Messages, openai.ToolMessage(resultOf(city), call.ID))
		}
	}
	return fields{"cities": cities}, nil
}

// responses

func item(value any) responses.ResponseInputItemUnionParam {
	return param.Override[responses.ResponseInputItemUnionParam](value)
}

func userItem(content any) responses.ResponseInputItemUnionParam {
	return item(fields{"role": "user", "content": content})
}

func withOutput(items responses.ResponseInputParam, answer *responses.Response) responses.ResponseInputParam {
	for _, each := range answer.Output {
		items = append(items, item(json.RawMessage(each.RawJSON())))
	}
	return items
}

func responsesCase(of oneCase) (fields, error) {
	client := newOpenAI()
	items := responses.ResponseInputParam{userItem(of.Prompt)}
	asked := responses.ResponseNewParams{Model: of.Model}
	ask := func() (*responses.Response, error) {
		asked.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: items}
		return client.Responses.New(ctx, asked)
	}
	switch of.Kind {
	case "count":
		input := responses.InputTokenCountParamsInputUnion{OfString: openai.String(of.Prompt)}
		counted, err := client.Responses.InputTokens.Count(ctx, responses.InputTokenCountParams{Model: openai.String(of.Model), Input: input})
		if err != nil {
			return nil, err
		}
		return fields{"count": counted.InputTokens}, nil
	case "stream":
		asked.Input = responses.ResponseNewParamsInputUnion{OfString: openai.String(of.Prompt)}
		return responsesStream(client, asked)
	case "reasoning", "tools":
		asked.Store = openai.Bool(false)
		asked.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
		asked.Reasoning = shared.ReasoningParam{Effort: shared.ReasoningEffortHigh, Summary: shared.ReasoningSummaryAuto}
	case "structured":
		form := responses.ResponseFormatTextJSONSchemaConfigParam{Name: "report", Schema: table.Schema, Strict: openai.Bool(true)}
		asked.Text.Format.OfJSONSchema = &form
	case "image":
		image := fields{"type": "input_image", "image_url": "data:image/png;base64," + table.Picture, "detail": "auto"}
		items = responses.ResponseInputParam{userItem([]fields{{"type": "input_text", "text": of.Prompt}, image})}
	}
	if of.Kind == "tools" {
		tool := responses.FunctionToolParam{
			Name:        table.Tool.Name,
			Description: openai.String(table.Tool.Description),
			Parameters:  table.Tool.Parameters,
			Strict:      openai.Bool(false),
		}
		asked.Tools = []responses.ToolUnionParam{{OfFunction: &tool}}
		cities := []string{}
		for range maxSteps {
			answer, err := ask()
			if err != nil {
				return nil, err
			}
			items = withOutput(items, answer)
			calls := 0
			for _, each := range answer.Output {
				if each.Type != "function_call" {
					continue
				}
				call := each.AsFunctionCall()
				city, err := cityIn(call.Arguments)
				if err != nil {
					return nil, err
				}
				calls++
				cities = append(cities, city)
				items = append(items, item(fields{"type": "function_call_output", "call_id": call.CallID, "output": resultOf(city)}))
			}
			if calls == 0 {
				return fields{"cities": cities, "text": answer.OutputText()}, nil
			}
		}
		return fields{"cities": cities}, nil
	}
	answer, err := ask()
	if err != nil {
		return nil, err
	}
	if of.Kind == "structured" {
		return objectIn(answer.OutputText())
	}
	outcome := responsesAnswer(answer.OutputText(), answer.Usage)
	if of.Kind != "reasoning" {
		return outcome, nil
	}
	thought := ""
	for _, each := range answer.Output {
		if each.Type == "reasoning" {
			for _, part := range each.AsReasoning().Summary {
				thought += part.Text
			}
		}
	}
	items = append(withOutput(items, answer), userItem("and again "+of.Prompt))
	again, err := ask()
	if err != nil {
		return nil, err
	}
	outcome["reasoning"], outcome["again"] = thought, again.OutputText()
	return outcome, nil
}

func responsesAnswer(text string, usage responses.ResponseUsage) fields {
	return fields{"text": text, "usage": fields{"input": usage.InputTokens, "output": usage.OutputTokens}}
}

func responsesStream(client openai.Client, asked responses.ResponseNewParams) (fields, error) {
	stream := client.Responses.NewStreaming(ctx, asked)
	text, usage := "", responses.ResponseUsage{}
	for stream.Next() {
		event := stream.Current()
		switch event.Type {
		case "response.output_text.delta":
			text += event.AsResponseOutputTextDelta().Delta
		case "response.completed":
			usage = event.AsResponseCompleted().Response.Usage
		}
	}
	return responsesAnswer(text, usage), stream.Err()
}

// messages

func textOf(message *anthropic.Message) (text string, thought string) {
	for _, block := range message.Content {
		switch block.Type {
		case "text":
			text += block.Text
		case "thinking":
			thought += block.Thinking
		}
	}
	return text, thought
}

func messagesCase(of oneCase) (fields, error) {
	client := anthropic.NewClient(anthropicoption.WithAPIKey(table.Token), anthropicoption.WithBaseURL(table.URL), anthropicoption.WithMaxRetries(0))
	turns := []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(of.Prompt))}
	asked := anthropic.MessageNewParams{Model: anthropic.Model(of.Model), MaxTokens: maxTokens}
	more := []anthropicoption.RequestOption{}
	ask := func() (*anthropic.Message, error) {
		asked.Messages = turns
		return client.Messages.New(ctx, asked, more...)
	}
	switch of.Kind {
	case "count":
		counted, err := client.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{Model: anthropic.Model(of.Model), Messages: turns})
		if err != nil {
			return nil, err
		}
		return fields{"count": counted.InputTokens}, nil
	case "stream":
		asked.Messages = turns
		stream := client.Messages.NewStreaming(ctx, asked)
		whole := anthropic.Message{}
		for stream.Next() {
			if err := whole.Accumulate(stream.Current()); err != nil {
				return nil, err
			}
		}
		return messagesAnswer(&whole), stream.Err()
	case "reasoning", "tools":
		asked.Thinking = anthropic.ThinkingConfigParamOfEnabled(1024)
	case "structured":
		form := fields{"format": fields{"type": "json_schema", "schema": table.Schema}}
		more = append(more, anthropicoption.WithJSONSet("output_config", form))
	case "image":
		image := anthropic.NewImageBlockBase64("image/png", table.Picture)
		turns = []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(of.Prompt), image)}
	}
	if of.Kind == "tools" {
		schema := anthropic.ToolInputSchemaParam{Properties: table.Tool.Parameters["properties"], Required: []string{"city"}}
		tool := anthropic.ToolParam{Name: table.Tool.Name, Description: anthropic.String(table.Tool.Description), InputSchema: schema}
		asked.Tools = []anthropic.ToolUnionParam{{OfTool: &tool}}
		cities := []string{}
		for range maxSteps {
			answer, err := ask()
			if err != nil {
				return nil, err
			}
			turns = append(turns, answer.ToParam())
			results := []anthropic.ContentBlockParamUnion{}
			for _, block := range answer.Content {
				if block.Type != "tool_use" {
					continue
				}
				city, err := cityIn(string(block.AsToolUse().Input))
				if err != nil {
					return nil, err
				}
				cities = append(cities, city)
				results = append(results, anthropic.NewToolResultBlock(block.ID, resultOf(city), false))
			}
			if len(results) == 0 {
				text, _ := textOf(answer)
				return fields{"cities": cities, "text": text}, nil
			}
			turns = append(turns, anthropic.NewUserMessage(results...))
		}
		return fields{"cities": cities}, nil
	}
	answer, err := ask()
	if err != nil {
		return nil, err
	}
	text, thought := textOf(answer)
	if of.Kind == "structured" {
		return objectIn(text)
	}
	if of.Kind != "reasoning" {
		return messagesAnswer(answer), nil
	}
	turns = append(turns, answer.ToParam(), anthropic.NewUserMessage(anthropic.NewTextBlock("and again "+of.Prompt)))
	again, err := ask()
	if err != nil {
		return nil, err
	}
	other, _ := textOf(again)
	return fields{"text": text, "reasoning": thought, "again": other}, nil
}

func messagesAnswer(message *anthropic.Message) fields {
	text, _ := textOf(message)
	return fields{"text": text, "usage": fields{"input": message.Usage.InputTokens, "output": message.Usage.OutputTokens}}
}

// generate

func said(parts ...*genai.Part) *genai.Content { return &genai.Content{Role: "user", Parts: parts} }

func words(text string) *genai.Part { return &genai.Part{Text: text} }

func generateCase(of oneCase) (fields, error) {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey:      table.Token,
		Backend:     genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: table.URL + "/vendorg"},
	})
	if err != nil {
		return nil, err
	}
	contents := []*genai.Content{said(words(of.Prompt))}
	config := &genai.GenerateContentConfig{}
	ask := func() (*genai.GenerateContentResponse, error) {
		return client.Models.GenerateContent(ctx, of.Model, contents, config)
	}
	budget := int32(1024)
	thoughts := &genai.ThinkingConfig{IncludeThoughts: true, ThinkingBudget: &budget}
	switch of.Kind {
	case "count":
		counted, err := client.Models.CountTokens(ctx, of.Model, contents, nil)
		if err != nil {
			return nil, err
		}
		return fields{"count": counted.TotalTokens}, nil
	case "stream":
		text := ""
		var last *genai.GenerateContentResponseUsageMetadata
		for chunk, err := range client.Models.GenerateContentStream(ctx, of.Model, contents, config) {
			if err != nil {
				return nil, err
			}
			text += chunk.Text()
			if chunk.UsageMetadata != nil {
				last = chunk.UsageMetadata
			}
		}
		return generateAnswer(text, last), nil
	case "reasoning", "tools":
		config.ThinkingConfig = thoughts
	case "structured":
		config.ResponseMIMEType, config.ResponseJsonSchema = "application/json", table.Schema
	case "image":
		bytes, err := base64.StdEncoding.DecodeString(table.Picture)
		if err != nil {
			return nil, err
		}
		contents = []*genai.Content{said(words(of.Prompt), &genai.Part{InlineData: &genai.Blob{Data: bytes, MIMEType: "image/png"}})}
	}
	if of.Kind == "tools" {
		declared := &genai.FunctionDeclaration{Name: table.Tool.Name, Description: table.Tool.Description, ParametersJsonSchema: table.Tool.Parameters}
		config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{declared}}}
		cities := []string{}
		for range maxSteps {
			answer, err := ask()
			if err != nil {
				return nil, err
			}
			contents = append(contents, answer.Candidates[0].Content)
			results := []*genai.Part{}
			for _, call := range answer.FunctionCalls() {
				city, _ := call.Args["city"].(string)
				cities = append(cities, city)
				results = append(results, &genai.Part{FunctionResponse: &genai.FunctionResponse{
					ID: call.ID, Name: call.Name, Response: fields{"result": resultOf(city)},
				}})
			}
			if len(results) == 0 {
				return fields{"cities": cities, "text": answer.Text()}, nil
			}
			contents = append(contents, said(results...))
		}
		return fields{"cities": cities}, nil
	}
	answer, err := ask()
	if err != nil {
		return nil, err
	}
	if of.Kind == "structured" {
		return objectIn(answer.Text())
	}
	outcome := generateAnswer(answer.Text(), answer.UsageMetadata)
	if of.Kind != "reasoning" {
		return outcome, nil
	}
	thought := ""
	content := answer.Candidates[0].Content
	for _, part := range content.Parts {
		if part.Thought {
			thought += part.Text
		}
	}
	contents = append(contents, content, said(words("and again "+of.Prompt)))
	again, err := ask()
	if err != nil {
		return nil, err
	}
	outcome["reasoning"], outcome["again"] = thought, again.Text()
	return outcome, nil
}

func generateAnswer(text string, usage *genai.GenerateContentResponseUsageMetadata) fields {
	told := fields{}
	if usage != nil {
		told = fields{"input": usage.PromptTokenCount, "output": usage.CandidatesTokenCount + usage.ThoughtsTokenCount}
	}
	return fields{"text": text, "usage": told}
}

var styles = map[string]func(oneCase) (fields, error){
	"chat": chatCase, "responses": responsesCase, "messages": messagesCase, "generate": generateCase,
}

func statusOf(err error) int {
	var fromOpenAI *openai.Error
	var fromAnthropic *anthropic.Error
	var fromGoogle genai.APIError
	switch {
	case errors.As(err, &fromOpenAI):
		return fromOpenAI.StatusCode
	case errors.As(err, &fromAnthropic):
		return fromAnthropic.StatusCode
	case errors.As(err, &fromGoogle):
		return fromGoogle.Code
	}
	return 0
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(text, &table)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lines := json.NewEncoder(os.Stdout)
	for _, each := range table.Cases {
		outcome, err := styles[each.Style](each)
		if status := statusOf(err); status != 0 {
			outcome = fields{"error": fields{"class": fmt.Sprintf("%T", err), "status": status}}
		} else if err != nil {
			outcome = fields{"problem": err.Error()}
		}
		outcome["id"] = each.ID
		_ = lines.Encode(outcome)
	}
}
