// A program written against the clients that oapi-codegen makes of the two documents: it asks every interface,
// and prints by name the status of what came back.
package main

import (
	"clients/admin"
	"clients/data"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	pause    = 200 * time.Millisecond
	maxPolls = 300
)

var outcomes = map[string]int{}

type answer interface{ StatusCode() int }

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// note keeps the status; without an answer that could be read, the program ends.
func note[T answer](name string) func(T, error) T {
	return func(got T, err error) T {
		check(err)
		outcomes[name] = got.StatusCode()
		return got
	}
}

// body is a request of the generated type.
func body[T any](text string) T {
	var made T
	check(json.Unmarshal([]byte(text), &made))
	return made
}

func until[T any](poll func() T, isOver func(T) bool) T {
	for range maxPolls {
		if seen := poll(); isOver(seen) {
			return seen
		}
		time.Sleep(pause)
	}
	panic("it does not end")
}

func bearer(token string) func(context.Context, *http.Request) error {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}

const said = `"model":"txta-plus","messages":[{"role":"user","content":"Say hello."}]`
const contents = `{"contents":[{"role":"user","parts":[{"text":"Say hello."}]}]}`

func texts(ctx context.Context, c *data.ClientWithResponses) {
	chat := note[*data.CreateChatCompletionResponse]("createChatCompletion")(
		c.CreateChatCompletionWithResponse(ctx, body[data.CreateChatCompletionJSONRequestBody]("{"+said+"}")))
	if chat.JSON200 == nil || len(chat.JSON200.Choices) != 1 {
		panic("nothing was said")
	}
	input := `{"model":"txta-plus","input":"Say hello."}`
	note[*data.CreateResponseResponse]("createResponse")(
		c.CreateResponseWithResponse(ctx, body[data.CreateResponseJSONRequestBody](input)))
	note[*data.CountResponseTokensResponse]("countResponseTokens")(
		c.CountResponseTokensWithResponse(ctx, body[data.CountResponseTokensJSONRequestBody](input)))
	note[*data.CreateMessageResponse]("createMessage")(
		c.CreateMessageWithResponse(ctx, nil, body[data.CreateMessageJSONRequestBody](`{"max_tokens":32,`+said+"}")))
	note[*data.CountMessageTokensResponse]("countMessageTokens")(
		c.CountMessageTokensWithResponse(ctx, nil, body[data.CountMessageTokensJSONRequestBody]("{"+said+"}")))
	embed := `{"model":"txta-embed","input":["one","two"],"dimensions":4}`
	note[*data.CreateEmbeddingsResponse]("createEmbeddings")(
		c.CreateEmbeddingsWithResponse(ctx, body[data.CreateEmbeddingsJSONRequestBody](embed)))
	note[*data.GenerateContentResponse]("generateContent")(
		c.GenerateContentWithResponse(ctx, "v1beta", "txta-plus", body[data.GenerateContentJSONRequestBody](contents)))
	note[*data.CountGenerateTokensResponse]("countGenerateTokens")(
		c.CountGenerateTokensWithResponse(ctx, "v1beta", "txta-plus", body[data.CountGenerateTokensJSONRequestBody](contents)))
}

func images(ctx context.Context, c *data.ClientWithResponses) {
	drawn := `{"model":"imga-plus","prompt":"a boat","size":"64x64","stream":false}`
	note[*data.CreateImagesResponse]("createImages")(
		c.CreateImagesWithResponse(ctx, nil, body[data.CreateImagesJSONRequestBody](drawn)))
	edit := `{"model":"imga-edit","prompt":"at night","images":[{"image_url":"https://example.com/a.png"}]}`
	note[*data.EditImagesResponse]("editImages")(
		c.EditImagesWithResponse(ctx, nil, body[data.EditImagesJSONRequestBody](edit)))
	wanted := `{"model_name":"imgvendor-v1","prompt":"a boat"}`
	made := note[*data.CreateImageTaskResponse]("createImageTask")(
		c.CreateImageTaskWithResponse(ctx, nil, body[data.CreateImageTaskJSONRequestBody](wanted)))
	id := made.JSON200.Data.TaskId
	until(func() string {
		task := note[*data.GetImageTaskResponse]("getImageTask")(c.GetImageTaskWithResponse(ctx, id))
		return string(task.JSON200.Data.TaskStatus)
	}, func(status string) bool { return status == "succeed" || status == "failed" })
	note[*data.ListImageTasksResponse]("listImageTasks")(c.ListImageTasksWithResponse(ctx, nil))
}

func videos(ctx context.Context, c *data.ClientWithResponses) {
	wanted := `{"model":"vfb-1.1-t2v","prompt":"a boat","seconds":3,"resolution":"720p"}`
	made := note[*data.CreateVideoResponse]("createVideo")(
		c.CreateVideoWithResponse(ctx, nil, body[data.CreateVideoJSONRequestBody](wanted)))
	id := made.JSON200.Id
	until(func() string {
		video := note[*data.GetVideoResponse]("getVideo")(c.GetVideoWithResponse(ctx, id))
		return string(video.JSON200.Status)
	}, func(status string) bool { return status == "completed" || status == "failed" || status == "cancelled" })
	file := note[*data.DownloadVideoResponse]("downloadVideo")(c.DownloadVideoWithResponse(ctx, id, nil))
	if len(file.Body) < 1_000 {
		panic("no video came")
	}
	note[*data.ListVideosResponse]("listVideos")(c.ListVideosWithResponse(ctx, nil))
	note[*data.DeleteVideoResponse]("deleteVideo")(c.DeleteVideoWithResponse(ctx, id))
}

func operations(ctx context.Context, c *data.ClientWithResponses) {
	native := `{"model":"vidmodel-1-0-pro","content":[{"type":"text","text":"a boat"}],"seed":7}`
	made := note[*data.CreateNativeVideoTaskResponse]("createNativeVideoTask")(
		c.CreateNativeVideoTaskWithResponse(ctx, nil, body[data.CreateNativeVideoTaskJSONRequestBody](native)))
	until(func() string {
		task := note[*data.GetNativeVideoTaskResponse]("getNativeVideoTask")(
			c.GetNativeVideoTaskWithResponse(ctx, made.JSON200.Id))
		return string(task.JSON200.Status)
	}, func(status string) bool { return status != "queued" && status != "running" })
	note[*data.ListNativeVideoTasksResponse]("listNativeVideoTasks")(c.ListNativeVideoTasksWithResponse(ctx, nil))
	asked := `{"instances":[{"prompt":"a boat"}],"parameters":{"durationSeconds":"4","sampleCount":1}}`
	begun := note[*data.CreateLongRunningVideoResponse]("createLongRunningVideo")(
		c.CreateLongRunningVideoWithResponse(ctx, "v1beta", "vendorg-video-1", nil,
			body[data.CreateLongRunningVideoJSONRequestBody](asked)))
	name := strings.TrimPrefix(begun.JSON200.Name, "operations/")
	until(func() bool {
		operation := note[*data.GetLongRunningVideoResponse]("getLongRunningVideo")(
			c.GetLongRunningVideoWithResponse(ctx, "v1beta", name))
		return operation.JSON200.Done
	}, func(done bool) bool { return done })
}

func own(ctx context.Context, c *data.ClientWithResponses) {
	note[*data.ListModelsResponse]("listModels")(c.ListModelsWithResponse(ctx))
	note[*data.GetModelResponse]("getModel")(c.GetModelWithResponse(ctx, "txta-plus"))
	note[*data.GetUsageResponse]("getUsage")(c.GetUsageWithResponse(ctx, nil))
	note[*data.GetBillsResponse]("getBills")(c.GetBillsWithResponse(ctx, nil))
	note[*data.ListKeysResponse]("listKeys")(c.ListKeysWithResponse(ctx))
}

func administration(ctx context.Context, c *admin.ClientWithResponses) {
	account := `{"name":"from-go","balance":"5.00"}`
	note[*admin.CreateAccountResponse]("createAccount")(
		c.CreateAccountWithResponse(ctx, body[admin.CreateAccountJSONRequestBody](account)))
	note[*admin.CreateTokenResponse]("createToken")(
		c.CreateTokenWithResponse(ctx, body[admin.CreateTokenJSONRequestBody](`{"account":"from-go","name":"first"}`)))
	price := `{"model":"txta-plus","unit":"token","account":"from-go","per_million":{"input":"1.00","output":"2.00"}}`
	note[*admin.CreatePriceResponse]("createPrice")(
		c.CreatePriceWithResponse(ctx, body[admin.CreatePriceJSONRequestBody](price)))
	listed := note[*admin.ListAccountsResponse]("listAccounts")(c.ListAccountsWithResponse(ctx, nil))
	for _, item := range listed.JSON200.Items {
		if item.Balance == "5.00" {
			return
		}
	}
	panic("the account is not listed")
}

func main() {
	url, token, adminToken := os.Args[1], os.Args[2], os.Args[3]
	ctx := context.Background()
	c, err := data.NewClientWithResponses(url, data.WithRequestEditorFn(bearer(token)))
	check(err)
	for _, part := range []func(context.Context, *data.ClientWithResponses){texts, images, videos, operations, own} {
		part(ctx, c)
	}
	a, err := admin.NewClientWithResponses(url, admin.WithRequestEditorFn(bearer(adminToken)))
	check(err)
	administration(ctx, a)
	check(json.NewEncoder(os.Stdout).Encode(outcomes))
}
