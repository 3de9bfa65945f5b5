// What an import has done or would do, for a person, in three parts.
import { cell, column, table } from '../terminal/show.ts'
import type { Report } from './apply.ts'

export function reportText({ source, dry_run, ...parts }: Report, url: string): string {
  const { carried, carried_differently: differently, not_carried: left } = parts
  const count = (state: string) => carried.filter((each) => each.state === state).length
  const done = dry_run
    ? `dry run, nothing was changed: ${count('planned')} would be made`
    : `${count('made')} made`
  const sections = [
    `${source} to ${url}: ${done}, ${count('exists')} exist already`,
    carried.length === 0
      ? ''
      : `CARRIED\n${table(
          carried.map((each) => ({ ...each })),
          [column('kind'), column('name'), column('amount'), column('state')],
        )}`,
    listed('CARRIED DIFFERENTLY', differently),
    listed('NOT CARRIED', left),
  ]
  return sections.filter((each) => each !== '').join('\n\n')
}

const listed = (title: string, remarks: Report['not_carried']): string =>
  remarks.length === 0
    ? ''
    : [
        title,
        ...remarks.map(({ kind, name, reason }) => `${kind} ${cell(name)}: ${cell(reason)}`),
      ].join('\n')
