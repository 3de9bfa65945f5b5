// The gateway through the official `@anthropic-ai/sdk` package, current and previous major: shapes,
// streams, caching, betas, error classes, retries, money.
import { describe } from 'bun:test'
import { packages } from './anthropic-client.ts'
import { describeErrors, describeRetries } from './anthropic-errors.ts'
import { describeMessages, describeModels } from './anthropic-messages.ts'
import { useStage } from './stage.ts'

const stage = useStage()

describe.each(packages)('%s', (_, sdk) => {
  describeModels(sdk, stage)
  describeMessages(sdk, stage)
  describeErrors(sdk, stage)
  describeRetries(sdk, stage)
})
