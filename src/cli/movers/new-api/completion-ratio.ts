// What output costs in new-api as a multiple of input. Some ratios are part of its code: fixed ones beat its
// settings, others stand in where there is no setting.
import { type Decimal, decimalOf, one, over } from '../money.ts'

interface Rule {
  names: RegExp
  /** '4', or a fraction. */
  ratio: string
  isFixed?: true
}

const fixed = (names: RegExp, ratio: string): Rule => ({ names, ratio, isFixed: true })
const usual = (names: RegExp, ratio: string): Rule => ({ names, ratio })

/** The first that fits. */
const rules: readonly Rule[] = [
  usual(/-all$|-gizmo-\*$/, '2'),
  fixed(/^gpt-4o-2024-05-13$/, '3'),
  usual(/^gpt-4o-mini-tts/, '20'),
  usual(/^gpt-4o/, '4'),
  fixed(/^gpt-5[^.]*$/, '8'),
  fixed(/^gpt-5\.4-nano/, '6.25'),
  fixed(/^gpt-5\.4/, '6'),
  usual(/^gpt-5/, '6'),
  fixed(/^gpt-4\.5-preview/, '2'),
  fixed(/^gpt-4-(?:turbo|110[56]$)/, '3'),
  usual(/^gpt-/, '2'),
  fixed(/^o[13]/, '4'),
  fixed(/^chatgpt-4o-latest$/, '3'),
  fixed(/claude-3|claude-(?:sonnet|opus|haiku)-4|claude-(?:fable|sonnet|opus)-5/, '5'),
  fixed(/^mistral-/, '3'),
  fixed(/^gemini-(?:1\.5|2\.0)/, '4'),
  usual(/^gemini-2\.5-pro/, '8'),
  usual(/^gemini-2\.5-flash-(?:preview.*-nothinking$|lite)/, '4'),
  usual(/^gemini-2\.5-flash-preview/, '3.5/0.15'),
  usual(/^gemini-(?:2\.5-flash|robotics-er-1\.5)/, '2.5/0.3'),
  usual(/^gemini-3-pro-image/, '60'),
  usual(/^gemini-3-pro/, '6'),
  usual(/^gemini-/, '4'),
  fixed(/^command-r$/, '3'),
  fixed(/^command-r-plus$/, '5'),
  fixed(/^command-r-(?:plus-)?08-2024$/, '4'),
  usual(/^command/, '4'),
  fixed(/^ERNIE-(?:Speed-|Lite-|Character|Functions)/, '2'),
  fixed(/^llama2-70b-4096$/, '0.8/0.64'),
  fixed(/^llama3-8b-8192$/, '2'),
  fixed(/^llama3-70b-8192$/, '0.79/0.59'),
]

function fraction(text: string): Decimal {
  const [above = '', below] = text.split('/')
  return below === undefined ? decimalOf(above)! : over(decimalOf(above)!, decimalOf(below)!)
}

export function completionRatio(
  name: string,
  set: Decimal | undefined,
): { ratio: Decimal; isBuiltIn: boolean } {
  const rule = rules.find(({ names }) => names.test(name))
  const isSet = set !== undefined && (rule?.isFixed !== true || name.includes('/'))
  if (isSet) return { ratio: set, isBuiltIn: false }
  return rule === undefined
    ? { ratio: one, isBuiltIn: false }
    : { ratio: fraction(rule.ratio), isBuiltIn: true }
}
