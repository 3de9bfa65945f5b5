// Names that the gateway would take. Pure.

/** A name of the same words that would be taken; empty if there are none in Latin script. */
export const proposedName = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64)
