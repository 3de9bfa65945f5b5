// One request for each field of the generate style.
import {
  document,
  imageUrl,
  openSchema,
  type Probes,
  pixel,
  type Sample,
  schema,
} from './samples.ts'

const user = (...parts: object[]) => ({ role: 'user', parts: [{ text: 'Hm' }, ...parts] })
const part = (...parts: object[]) => ({ contents: [user(...parts)] })
const after = (answer: object[], ...parts: object[]) => ({
  contents: [
    user(),
    { role: 'model', parts: answer },
    { role: 'user', parts: [...parts, { text: 'B' }] },
  ],
})
const weather = { name: 'weather', description: 'The weather.', parametersJsonSchema: schema }
const tools = [{ functionDeclarations: [weather] }]
const twoTools = [{ functionDeclarations: [weather, { ...weather, name: 'clock' }] }]
const choose = (calling: object) => ({
  fields: { tools: twoTools, toolConfig: { functionCallingConfig: calling } },
  beside: { tools: twoTools },
})
const call = { functionCall: { id: 'c1', name: 'weather', args: { city: 'A' } } }
const result = (response: object, more: object = {}) => ({
  functionResponse: { id: 'c1', name: 'weather', response, ...more },
})
const png = { inlineData: { mimeType: 'image/png', data: pixel } }
const inConfig = (samples: Sample): Probes =>
  Object.fromEntries(
    Object.entries(samples).map(([name, value]) => [
      `generationConfig.${name}`,
      { fields: { generationConfig: { [name]: value } } },
    ]),
  )
const think = (thinkingConfig: object) => ({ fields: { generationConfig: { thinkingConfig } } })
const json = { responseMimeType: 'application/json' }

const high = { thinkingConfig: { thinkingLevel: 'HIGH' } }
const besideEffort = (fields: object) => ({
  fields: { generationConfig: { ...high, ...fields } },
  beside: { generationConfig: high },
})

export const base = { contents: [user()] }

export const probes: Probes = {
  systemInstruction: { fields: { systemInstruction: { parts: [{ text: 'Obey' }] } } },
  'contents (begun answer)': {
    fields: { contents: [user(), { role: 'model', parts: [{ text: 'It is' }] }] },
  },
  'contents.parts.text (white space)': { fields: part({ text: ' ' }), beside: part() },
  'contents.parts.inlineData (image)': { fields: part(png), beside: part() },
  'contents.parts.inlineData (PDF)': {
    fields: part({ inlineData: { mimeType: 'application/pdf', data: document } }),
    beside: part(),
  },
  'contents.parts.inlineData (audio)': {
    fields: part({ inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } }),
    beside: part(),
  },
  'contents.parts.inlineData (video)': {
    fields: part({ inlineData: { mimeType: 'video/mp4', data: 'AAAA' } }),
    beside: part(),
  },
  'contents.parts.fileData (image)': {
    fields: part({ fileData: { mimeType: 'image/png', fileUri: imageUrl } }),
    beside: part(),
  },
  'contents.parts.fileData (stored upstream)': {
    fields: part({ fileData: { fileUri: 'https://up.example/v1beta/files/abc' } }),
    beside: part(),
  },
  'contents.parts.videoMetadata': {
    fields: part({ ...png, videoMetadata: { startOffset: '1s' } }),
    beside: part(png),
  },
  'contents.parts.thought': {
    fields: after([{ text: 'Let me see', thought: true }, { text: 'A' }]),
    beside: after([{ text: 'A' }]),
  },
  'contents.parts.thoughtSignature': {
    fields: after([{ text: 'A', thoughtSignature: 'c2VhbA==' }]),
    beside: after([{ text: 'A' }]),
  },
  'contents.parts.functionCall': {
    fields: after([call], result({ result: 'Sun' })),
    beside: after([{ text: 'A' }]),
  },
  'contents.parts.functionResponse (error)': {
    fields: after([call], result({ error: 'no' })),
    beside: after([call], result({ result: 'Sun' })),
  },
  'contents.parts.functionResponse (image)': {
    fields: after([call], result({ result: 'Sun' }, { parts: [png] })),
    beside: after([call], result({ result: 'Sun' })),
  },
  'contents.parts.executableCode': {
    fields: after([{ executableCode: { language: 'PYTHON', code: '1' } }]),
    beside: after([{ text: 'A' }]),
  },
  tools: { fields: { tools } },
  'tools.functionDeclarations.response': {
    fields: { tools: [{ functionDeclarations: [{ ...weather, response: schema }] }] },
    beside: { tools },
  },
  'tools.googleSearch': { fields: { tools: [{ googleSearch: {} }] } },
  toolConfig: choose({ mode: 'ANY' }),
  'toolConfig (one tool)': choose({ mode: 'ANY', allowedFunctionNames: ['clock'] }),
  'toolConfig (some tools)': choose({ mode: 'AUTO', allowedFunctionNames: ['clock'] }),
  'toolConfig (VALIDATED)': choose({ mode: 'VALIDATED' }),
  'generationConfig.maxOutputTokens (below 16)': {
    fields: { generationConfig: { maxOutputTokens: 5 } },
  },
  ...inConfig({ maxOutputTokens: 100, stopSequences: ['END'], temperature: 0.5 }),
  'generationConfig.stopSequences (white space)': {
    fields: { generationConfig: { stopSequences: ['\n'] } },
  },
  'generationConfig.temperature (above 1)': { fields: { generationConfig: { temperature: 1.5 } } },
  ...inConfig({
    topP: 0.9,
    topK: 40,
    presencePenalty: 0.5,
    frequencyPenalty: 0.5,
    seed: 7,
    responseMimeType: 'application/json',
  }),
  'generationConfig.temperature (beside effort)': besideEffort({ temperature: 0.5 }),
  'generationConfig.topP (beside effort)': besideEffort({ topP: 0.5 }),
  'generationConfig.topK (beside effort)': besideEffort({ topK: 3 }),
  'generationConfig.responseJsonSchema': {
    fields: { generationConfig: { ...json, responseJsonSchema: schema } },
  },
  'generationConfig.responseJsonSchema (open schema)': {
    fields: { generationConfig: { ...json, responseJsonSchema: openSchema } },
  },
  'generationConfig._responseJsonSchema': {
    fields: { generationConfig: { ...json, _responseJsonSchema: schema } },
  },
  'generationConfig.responseSchema': {
    fields: {
      generationConfig: {
        ...json,
        responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
      },
    },
  },
  'generationConfig.thinkingConfig': think({ thinkingLevel: 'HIGH' }),
  'generationConfig.thinkingConfig (MINIMAL)': think({ thinkingLevel: 'MINIMAL' }),
  'generationConfig.thinkingConfig (budget)': think({ thinkingBudget: 2_000 }),
  'generationConfig.thinkingConfig (off)': think({ thinkingBudget: 0 }),
  'generationConfig.thinkingConfig.includeThoughts': think({ includeThoughts: true }),
  ...inConfig({
    candidateCount: 2,
    responseLogprobs: true,
    logprobs: 2,
    responseModalities: ['IMAGE'],
    mediaResolution: 'MEDIA_RESOLUTION_LOW',
  }),
  cachedContent: { fields: { cachedContent: 'cachedContents/a' } },
  safetySettings: {
    fields: { safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }] },
  },
  labels: { fields: { labels: { a: 'b' } } },
  serviceTier: { fields: { serviceTier: 'priority' } },
  'any other field': { fields: { xOther: 1 } },
}
