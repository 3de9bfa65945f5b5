// Fields of an upstream's answer that tell what the operator pays and to whom. Callers and members do
// not get them; the request log keeps them for operators.

type Json = Readonly<Record<string, unknown>>

/** `cost`, `cost_details`, `total_cost`, `cost_in_usd_ticks`, `marketCost`, `is_byok`, `native_tokens_prompt` … */
const costName =
  /(?:^|_)(?:costs?|prices?|charges?|byok|usd|discount|markup)(?:_|$)|^gateway$|(?:[cC]ost|[pP]rice|Byok|BYOK|Usd|USD)s?(?:$|[A-Z_])|^provider(?:_?[nN]ame|_?[iI]d)?$|^native_?[tT]okens/

/** Names that came in: there are few. */
const judged = new Map<string, boolean>()
const maxJudged = 1_000

function tellsCost(name: string): boolean {
  const before = judged.get(name)
  if (before !== undefined) return before
  if (judged.size >= maxJudged) judged.clear()
  const tells = name.length <= 64 && costName.test(name)
  judged.set(name, tells)
  return tells
}

const isHolder = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** The same value where there are none; otherwise a copy. For usage: at any depth. */
export function withoutCosts(value: unknown): unknown {
  if (!isHolder(value)) return value
  if (Array.isArray(value)) return eachOf(value, withoutCosts)
  let copy: Record<string, unknown> | undefined
  for (const name in value) {
    const held = value[name]
    const isCost = tellsCost(name)
    const shown = isCost ? undefined : withoutCosts(held)
    if (shown === held && !isCost) continue
    copy ??= { ...value }
    if (isCost) delete copy[name]
    else copy[name] = shown
  }
  return copy ?? value
}

/** Objects in an answer that hold usage, or the answer itself. */
const inner: Readonly<Record<string, ((held: unknown) => unknown) | undefined>> = {
  __proto__: null as never,
  usage: withoutCosts,
  usageMetadata: withoutCosts,
  usage_metadata: withoutCosts,
  x_groq: withoutCosts,
  provider_metadata: withoutRouting,
  providerMetadata: withoutRouting,
  response: ofAnswer,
  message: ofAnswer,
  delta: ofAnswer,
  choices: (held) => (Array.isArray(held) ? eachOf(held, ofAnswer) : held),
}

function ofAnswer(held: unknown): unknown {
  return isHolder(held) && !Array.isArray(held) ? answerWithoutCosts(held) : held
}

/** What a gateway in front of the upstream tells of its routes. */
function withoutRouting(held: unknown): unknown {
  if (!isHolder(held) || !('gateway' in held)) return withoutCosts(held)
  const { gateway: _, ...rest } = held
  return withoutCosts(rest)
}

/** The same list where `shownOf` changes nothing. */
function eachOf(list: readonly unknown[], shownOf: (held: unknown) => unknown): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let at = 0; at < list.length; at++) {
    const shown = shownOf(list[at])
    if (shown === list[at]) continue
    copy ??= [...list]
    copy[at] = shown
  }
  return copy ?? list
}

/**
 * The same for an answer or an event of a stream: its own fields and its usage. What the model said is not
 * searched.
 */
export function answerWithoutCosts(answer: Json): Json {
  let copy: Record<string, unknown> | undefined
  for (const name in answer) {
    const held = answer[name]
    const isCost = tellsCost(name)
    const shown = isCost ? undefined : isHolder(held) ? (inner[name]?.(held) ?? held) : held
    if (shown === held && !isCost) continue
    copy ??= { ...answer }
    if (isCost) delete copy[name]
    else copy[name] = shown
  }
  return copy ?? answer
}
