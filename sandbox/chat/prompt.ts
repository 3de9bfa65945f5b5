// A chat request's messages as a prompt: what counts as input, and where a cache marker sits.
import { Prompt } from '../prompt.ts'
import { asObject, type Json } from './request.ts'

export function layOutPrompt(messages: readonly Json[]): Prompt {
  const prompt = new Prompt()
  for (const message of messages) {
    prompt.openMessage(String(message['role']))
    const { content } = message
    if (typeof content === 'string') prompt.addText(content)
    if (Array.isArray(content)) for (const part of content) addPart(prompt, asObject(part))
    if (Array.isArray(message['tool_calls'])) addToolCalls(prompt, message['tool_calls'])
    prompt.endPart(isEphemeral(message))
  }
  return prompt
}

function addPart(prompt: Prompt, part: Json): void {
  if (typeof part['text'] === 'string') prompt.addText(part['text'])
  // Without its marker: the same picture is the same prompt wherever the marker has moved.
  else prompt.addMedia(JSON.stringify({ ...part, cache_control: undefined }))
  prompt.endPart(isEphemeral(part))
}

function addToolCalls(prompt: Prompt, toolCalls: readonly unknown[]): void {
  for (const toolCall of toolCalls) {
    const { name, arguments: given } = asObject(asObject(toolCall)['function'])
    if (typeof name === 'string') prompt.addText(name)
    if (typeof given === 'string') prompt.addText(given)
  }
}

const isEphemeral = (holder: Json): boolean =>
  asObject(holder['cache_control'])['type'] === 'ephemeral'
