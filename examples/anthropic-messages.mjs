// The gateway through the official Anthropic SDK: a token count, one answer, one stream.
//   GATEWAY_URL=http://localhost:8080 GATEWAY_TOKEN=sk-... node examples/anthropic-messages.mjs
import Anthropic from '@anthropic-ai/sdk'
import { needed } from './settings.mjs'

const { url, token, model } = needed()
// This SDK adds /v1.
const client = new Anthropic({ apiKey: token, baseURL: url, timeout: 60_000 })
const messages = [{ role: 'user', content: 'Say hello.' }]

const { input_tokens } = await client.messages.countTokens({ model, messages })
console.log(`counted: ${input_tokens}`)

const answer = await client.messages.create({ model, max_tokens: 200, messages })
console.log(`answer: ${answer.content.map((block) => block.text ?? '').join('')}`)
console.log(`usage: ${answer.usage.input_tokens} in, ${answer.usage.output_tokens} out`)

process.stdout.write('stream: ')
const stream = client.messages.stream({ model, max_tokens: 200, messages })
stream.on('text', (text) => process.stdout.write(text))
const { usage } = await stream.finalMessage()
console.log(`\nusage: ${usage.input_tokens} in, ${usage.output_tokens} out`)
