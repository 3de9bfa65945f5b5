// Tools of a generate request, and how the model may choose among them.
import { isObject } from '../../lib/json/parse.ts'
import { objectIn, textIn, textsIn } from '../../lib/json/values.ts'
import type { Json, Tool, ToolChoice } from '../common/conversation.ts'
import { present, type RequestReading } from '../common/request-reading.ts'
import { camelCased, loseOthers, loseUnknown } from './field-names.ts'
import { standardSchema } from './plain-schema.ts'

const declared = 'functionDeclarations'
const functionFields = new Set(['name', 'description', 'parameters', 'parametersJsonSchema'])

export function readTools(fields: Json, reading: RequestReading): Tool[] {
  const lists = Array.isArray(fields['tools']) ? fields : { tools: [fields['tools'] ?? {}] }
  return reading.objects(lists, 'tools').flatMap(({ item, at }) => {
    const tool = camelCased(item)
    const other = Object.keys(tool).find((name) => name !== declared && tool[name] != null)
    if (other !== undefined) {
      reading.refuse(`${at}.${other}`, 'tools that the upstream runs cannot be translated')
    }
    return reading
      .objects(tool, declared, `${at}.`)
      .map((each) => readFunction(camelCased(each.item), each.at, reading))
  })
}

function readFunction(declaration: Json, at: string, reading: RequestReading): Tool {
  loseOthers(declaration, functionFields, reading.losses, 'tools.functionDeclarations.')
  const { parametersJsonSchema: standard, parameters } = declaration
  return {
    name: reading.requiredText(declaration, 'name', `${at}.`),
    ...present({ description: textIn(declaration, 'description') }),
    schema: isObject(standard) ? standard : isObject(parameters) ? standardSchema(parameters) : {},
  }
}

export function readToolChoice(fields: Json, reading: RequestReading): ToolChoice | undefined {
  const config = camelCased(reading.object(fields, 'toolConfig') ?? {})
  loseOthers(config, new Set(['functionCallingConfig']), reading.losses, 'toolConfig.')
  const calling = camelCased(objectIn(config, 'functionCallingConfig') ?? {})
  loseUnknown(calling, 'toolConfig.functionCallingConfig.', reading.losses)
  const names = textsIn(calling, 'allowedFunctionNames')
  const mode = textIn(calling, 'mode')?.toUpperCase() ?? 'AUTO'
  const [only] = names
  switch (mode) {
    case 'ANY':
      if (names.length === 1) return { mode: 'tool', name: only! }
      return names.length > 1 ? { mode: 'allowed', names, required: true } : { mode: 'required' }
    case 'NONE':
      return { mode: 'none' }
    case 'AUTO':
    case 'VALIDATED':
    case 'MODE_UNSPECIFIED':
      if (mode === 'VALIDATED') reading.losses.add('toolConfig.functionCallingConfig.mode')
      if (names.length > 0) return { mode: 'allowed', names, required: false }
      return isObject(config['functionCallingConfig']) ? { mode: 'auto' } : undefined
    default:
      reading.wrong('toolConfig.functionCallingConfig.mode', 'AUTO, ANY or NONE')
      return undefined
  }
}
