// The gateway through the official `openai` package, current and previous major, over upstreams of
// every style: shapes, streams, tools, error classes, retries, money.
import { describe } from 'bun:test'
import { describeChat, describeModels } from './openai-chat.ts'
import { packages } from './openai-client.ts'
import { describeEmbeddings } from './openai-embeddings.ts'
import { describeBrokenStreams, describeFailures, describeRefusals } from './openai-errors.ts'
import { describeLeaving } from './openai-leaving.ts'
import { describeResponses } from './openai-responses.ts'
import { describeTools } from './openai-tools.ts'
import { overs, useStage } from './stage.ts'

const stage = useStage()

describe.each(packages)('%s', (_, sdk) => {
  describeModels(sdk, stage)
  describeEmbeddings(sdk, stage)
  describeRefusals(sdk, stage)
  describeLeaving(sdk, stage)

  describe.each([...overs])('over $wire', (over) => {
    describeChat(sdk, stage, over)
    describeResponses(sdk, stage, over)
    describeTools(sdk, stage, over)
    describeFailures(sdk, stage, over)
    describeBrokenStreams(sdk, stage, over)
  })
})
