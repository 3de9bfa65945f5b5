// A text for each key: in English, in Chinese.
export type Text = readonly [en: string, zh: string]
export type Messages<K extends string> = Readonly<Record<K, Text>>
