// The same agent over messages: tool calls are blocks of the answer, their results blocks of the next
// request.
//   GATEWAY_URL=http://localhost:8080 GATEWAY_TOKEN=sk-... node examples/agent-messages.mjs 'Your question'
import Anthropic from '@anthropic-ai/sdk'
import { needed } from './settings.mjs'
import { runTool, tools } from './tools.mjs'

const mostTurns = 8
const { url, token, model } = needed()
const client = new Anthropic({ apiKey: token, baseURL: url, timeout: 120_000 })
const known = Object.entries(tools).map(([name, { description, parameters }]) => ({
  name,
  description,
  input_schema: parameters,
}))
// The directive in brackets makes the sandbox call a tool; a real model decides itself.
const question = process.argv[2] ?? 'Shall I take an umbrella in Lisbon? [[sim:tool]]'
const messages = [{ role: 'user', content: question }]

for (let turn = 1; ; turn++) {
  if (turn > mostTurns) throw new Error(`no answer within ${mostTurns} turns`)
  const stream = client.messages.stream({ model, max_tokens: 1_000, messages, tools: known })
  stream.on('text', (text) => process.stdout.write(text))
  const { content } = await stream.finalMessage()
  messages.push({ role: 'assistant', content })
  const results = []
  for (const block of content.filter(({ type }) => type === 'tool_use')) {
    const result = await runTool(block.name, block.input)
    console.log(`tool: ${block.name}(${JSON.stringify(block.input)}) -> ${result}`)
    results.push({ type: 'tool_result', tool_use_id: block.id, content: result })
  }
  if (results.length === 0) break
  messages.push({ role: 'user', content: results })
}
console.log()
