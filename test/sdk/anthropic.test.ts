// The gateway through the official `@anthropic-ai/sdk` package, current and previous major, over
// upstreams of every style: shapes, streams, tools, caching, betas, error classes, retries, money.
import { describe } from 'bun:test'
import { packages } from './anthropic-client.ts'
import { describeFailures, describeLeaving, describeRefusals } from './anthropic-errors.ts'
import { describeMessages, describeRest } from './anthropic-messages.ts'
import { describeTools } from './anthropic-tools.ts'
import { overs, useStage } from './stage.ts'

const stage = useStage()

describe.each(packages)('%s', (_, sdk) => {
  describeRest(sdk, stage)
  describeRefusals(sdk, stage)
  describeLeaving(sdk, stage)

  describe.each([...overs])('over $wire', (over) => {
    describeMessages(sdk, stage, over)
    describeTools(sdk, stage, over)
    describeFailures(sdk, stage, over)
  })
})
