// The gateway through the official `openai` package, current and previous major: shapes, streams,
// error classes, retries, money.
import { describe } from 'bun:test'
import { describeBrokenStreams } from './openai-broken-streams.ts'
import { describeChat, describeModels } from './openai-chat.ts'
import { packages } from './openai-client.ts'
import { describeErrors, describeRetries } from './openai-errors.ts'
import { describeEmbeddings, describeResponses } from './openai-responses.ts'
import { useStage } from './stage.ts'

const stage = useStage()

describe.each(packages)('%s', (_, sdk) => {
  describeModels(sdk, stage)
  describeChat(sdk, stage)
  describeResponses(sdk, stage)
  describeEmbeddings(sdk, stage)
  describeErrors(sdk, stage)
  describeBrokenStreams(sdk, stage)
  describeRetries(sdk, stage)
})
