// The gateway through the official OpenAI SDK: the model list, one answer, one stream.
//   GATEWAY_TOKEN=sk-... scripts/bun examples/openai-chat.ts
// Elsewhere: save it as openai-chat.mts, npm install openai, npx tsx openai-chat.mts.
import OpenAI from 'openai'

const apiKey = process.env['GATEWAY_TOKEN']
if (apiKey === undefined) {
  console.error('set GATEWAY_TOKEN to an API token; the first start of the gateway prints one')
  process.exit(64)
}
const url = process.env['GATEWAY_URL'] ?? 'http://localhost:8080'
const model = process.env['GATEWAY_MODEL'] ?? 'txta-plus'
const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, timeout: 60_000 })

const names: string[] = []
for await (const listed of client.models.list()) names.push(listed.id)
console.log(`models: ${names.join(', ')}`)

const messages = [{ role: 'user' as const, content: 'Say hello.' }]

const answer = await client.chat.completions.create({ model, messages })
console.log(`answer: ${answer.choices[0]?.message.content}`)
console.log(`usage: ${answer.usage?.prompt_tokens} in, ${answer.usage?.completion_tokens} out`)

const stream = await client.chat.completions.create({
  model,
  messages,
  stream: true,
  stream_options: { include_usage: true },
})
process.stdout.write('stream: ')
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '')
  // The last chunk has only the usage.
  if (chunk.usage) {
    const { prompt_tokens: input, completion_tokens: output } = chunk.usage
    console.log(`\nusage: ${input} in, ${output} out`)
  }
}
