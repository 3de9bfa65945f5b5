// The models this upstream says it has; it answers for any name.
const chatMethods = ['generateContent', 'streamGenerateContent', 'countTokens']
const embedMethods = ['embedContent', 'batchEmbedContents']

const modelOf = (name: string, supportedGenerationMethods: string[]) => ({
  name: `models/${name}`,
  version: '001',
  displayName: name,
  inputTokenLimit: 1_000_000,
  outputTokenLimit: 8_192,
  supportedGenerationMethods,
})

export const modelList = {
  models: [
    ...['txta-plus', 'txta-turbo', 'txta-max', 'txta-vl-plus', 'txta-vl-long'].map((name) =>
      modelOf(name, chatMethods),
    ),
    modelOf('txta-embed', embedMethods),
  ],
}
