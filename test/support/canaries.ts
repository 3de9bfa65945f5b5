// Secrets and prompts that nobody has anywhere else, and the search for them: as they are, encoded, or
// in pieces.

/** What only the operator or its upstreams may know. */
export const secrets = {
  textKey: 'upk-Zq7Lw2Vd9Kx4Rb8Tn3Hy',
  imageKey: 'upk-Mc5Gf1Js6Pw0Ye7Ua2Xo',
  signedKey: 'ak-Bn8Dq3Wz6Tk1|sk-Rv5Xh9Lc2Fm7Gp4Jy0',
  taskKey: 'upk-Hd3Kr8Zs5Qt2Vn7Bw1Lx',
  callback: `whsec_${Buffer.from('Oe4Ci9Ua6Ty1Xw8Sz3Pd5Kf2Jg').toString('base64')}`,
  masterKey: Buffer.from('Tq9Wm4Ex7Rz2Yc5Ub8Iv1Op6Ha3Sk0Dl').toString('base64'),
  redis: 'rp-Fj6Hk2Vb9Nw4Xq8Zt',
  collector: 'ct-Ps7Lu3Gy5Ci1Dm9Er',
  database: 'db-Wk8Yt2Qv6Jn3Zb5Mh',
} as const

/** What only the caller and the upstream may know. */
export const prompts = {
  text: 'PromptCanaryText7Qm2',
  media: 'PromptCanaryMedia4Zx9',
  header: 'PromptCanaryHeader8Kd1',
  field: 'PromptCanaryField3Wp6',
  model: 'prompt-canary-model-5vt0',
  path: 'PromptCanaryPath2Rb7',
  query: 'PromptCanaryQuery6Hn4',
  state: 'promptcanarystate9jc5',
  answer: 'PromptCanaryAnswer1Ty8',
  link: 'PromptCanaryLink0Ls3',
} as const

const min = 8

/** Every way in which a text may stand in another. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text)
  return [
    text,
    bytes.toString('hex'),
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
    [...text].toReversed().join(''),
    ...[0, 1, 2].map((before) =>
      Buffer.concat([Buffer.alloc(before), bytes])
        .toString('base64')
        .slice(4, -4),
    ),
  ]
}

/** Pieces of a secret tell of it, too. */
const piecesOf = (text: string): string[] =>
  Array.from({ length: text.length - min + 1 }, (_, at) => text.slice(at, at + min))

/** Which of them stand in a text, by name. */
export function foundIn(
  text: string,
  wanted: Readonly<Record<string, string>>,
  { pieces = false } = {},
): string[] {
  return Object.entries(wanted).flatMap(([name, secret]) =>
    secret
      .split('|')
      .flatMap((part) => [...formsOf(part), ...(pieces ? piecesOf(part) : [])])
      .filter((form) => text.includes(form))
      .map((form) => `${name}: ${form}`),
  )
}
