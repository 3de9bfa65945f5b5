// A text for each code: in English, in Chinese.
export type Texts = Readonly<Record<string, readonly [en: string, zh: string]>>
