// Names that people can type and that fit into paths: small letters, digits, dots and dashes.

const maxName = 128

/** 'Maker/Big Name:1' -> 'maker-big-name-1'; '' when nothing is left. */
export const wholePlainName = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|-+$/g, '')
    .slice(0, maxName)

/** The same without the path: 'meta-llama/Llama-3.3-70B' -> 'llama-3.3-70b'. */
export const plainName = (text: string): string =>
  wholePlainName(text.slice(text.lastIndexOf('/') + 1))

export const isPlainName = (text: string): boolean => /^[a-z0-9][a-z0-9.-]{0,127}$/.test(text)
