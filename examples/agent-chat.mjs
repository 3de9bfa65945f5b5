// An agent over chat completions: the model calls tools, up to a limit, and then answers. The answer is
// streamed.
//   GATEWAY_URL=http://localhost:8080 GATEWAY_TOKEN=sk-... node examples/agent-chat.mjs 'Your question'
import OpenAI from 'openai'
import { needed } from './settings.mjs'
import { runTool, tools } from './tools.mjs'

const mostTurns = 8
const { url, token, model } = needed()
const client = new OpenAI({ apiKey: token, baseURL: `${url}/v1`, timeout: 120_000 })
const functions = Object.entries(tools).map(([name, { description, parameters }]) => ({
  type: 'function',
  function: { name, description, parameters },
}))
// The directive in brackets makes the sandbox call a tool; a real model decides itself.
const question = process.argv[2] ?? 'Shall I take an umbrella in Lisbon? [[sim:tool]]'
const messages = [{ role: 'user', content: question }]

for (let turn = 1; ; turn++) {
  if (turn > mostTurns) throw new Error(`no answer within ${mostTurns} turns`)
  const stream = client.chat.completions.stream({ model, messages, tools: functions })
  stream.on('content', (delta) => process.stdout.write(delta))
  const { message } = (await stream.finalChatCompletion()).choices[0]
  messages.push(message)
  const calls = message.tool_calls ?? []
  if (calls.length === 0) break
  for (const { id, function: wanted } of calls) {
    const result = await runTool(wanted.name, JSON.parse(wanted.arguments))
    console.log(`tool: ${wanted.name}(${wanted.arguments}) -> ${result}`)
    messages.push({ role: 'tool', tool_call_id: id, content: result })
  }
}
console.log()
