// The data policies of a token and its account: only channels that promise what both require are asked,
// whatever else a call would be routed by.
import type { Route } from '../../catalog/snapshot.ts'
import type { DataRequirement, Token } from '../../contract/catalog.ts'
import { fulfils } from '../../contract/config-schema/channel/data.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'

type Bound = Pick<Token, 'require' | 'accountRequire'>

/** The routes that a call of this token may take: the same list where nothing is required. */
export function qualifying<R extends Pick<Route, 'channel'>>(
  { require: own, accountRequire: whole }: Bound,
  routes: readonly R[],
): readonly R[] {
  return own === undefined && whole === undefined ? routes : fulfilling(routes, own, whole)
}

const fulfilling = <R extends Pick<Route, 'channel'>>(
  routes: readonly R[],
  own: DataRequirement | undefined,
  whole: DataRequirement | undefined,
): readonly R[] =>
  routes.filter(
    ({ channel: { data } }) =>
      (own === undefined || fulfils(data, own)) && (whole === undefined || fulfils(data, whole)),
  )

/** No channel is left. */
export function policyRefusal(
  { require: own, accountRequire: whole }: Bound,
  model: string,
): Refusal {
  const said = [
    ...(own === undefined ? [] : [`the token requires ${wordsOf(own)}`]),
    ...(whole === undefined ? [] : [`the account requires ${wordsOf(whole)}`]),
  ]
  return refuse('data_policy', `no channel of model '${model}' qualifies: ${said.join('; ')}`)
}

const wordsOf = ({ training, retentionDays, region }: DataRequirement): string =>
  [
    ...(training === undefined ? [] : [`training: ${training}`]),
    ...(retentionDays === undefined ? [] : [`retention_days: ${retentionDays}`]),
    ...(region === undefined ? [] : [`region: ${region}`]),
  ].join(', ')
