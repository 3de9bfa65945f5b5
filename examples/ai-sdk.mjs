// The gateway through the AI SDK: one answer, then one as a stream.
//   GATEWAY_URL=http://localhost:8080 GATEWAY_TOKEN=sk-... node examples/ai-sdk.mjs
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, streamText } from 'ai'
import { needed } from './settings.mjs'

const { url, token, model } = needed()
const provider = createOpenAICompatible({
  name: 'gateway',
  baseURL: `${url}/v1`,
  apiKey: token,
  includeUsage: true,
})

const { text, usage } = await generateText({ model: provider(model), prompt: 'Say hello.' })
console.log(`answer: ${text}`)
console.log(`usage: ${usage.inputTokens} in, ${usage.outputTokens} out`)

const stream = streamText({ model: provider(model), prompt: 'Say hello.' })
process.stdout.write('stream: ')
for await (const part of stream.textStream) process.stdout.write(part)
const total = await stream.usage
console.log(`\nusage: ${total.inputTokens} in, ${total.outputTokens} out`)
