// The columns of a table: what they show, how wide they are, and which of them fit. Pure.
import type { ReactNode } from 'react'

export interface Column<T> {
  title: string
  cell: (row: T) => ReactNode
  /** In CSS pixels: what its values need. Columns share the width of the table in this proportion. */
  width?: string
  align?: 'right'
  /** Not for onlookers; accounts, tokens and prompts never are. */
  isPrivate?: boolean
  /** Its name in what is remembered of a person's choice; its number if left out. */
  id?: string
  /** What the column is sorted by; without it the column cannot be sorted. */
  sort?: (row: T) => string | number | null | undefined
  /** Shown only to those who choose it. */
  isOptional?: boolean
  /** Not on a card, unless it is chosen. */
  isMinor?: boolean
}

type Rest<T> = Pick<Column<T>, 'align' | 'isPrivate' | 'id' | 'sort' | 'isOptional' | 'isMinor'>

/** A column by its title, its width in CSS and its cell; numbers stand to the right. */
export const column = <T>(
  title: string,
  width: string,
  cell: Column<T>['cell'],
  rest: Rest<T> = {},
): Column<T> => ({ title, width, cell, ...rest })

export const numberColumn = <T>(
  title: string,
  width: string,
  cell: Column<T>['cell'],
  rest: Rest<T> = {},
): Column<T> => ({ title, width, cell, align: 'right', ...rest })

/** The unit is said once, in the heading. */
export const withUnit = (title: string, unit: string): string => `${title}, ${unit}`

/** A column with its name. */
export type Named<T> = Column<T> & { id: string }

export const named = <T>(columns: readonly Column<T>[]): Named<T>[] =>
  columns.map((each, i) => ({ ...each, id: each.id ?? String(i) }))

/** What a person chose to see, by the names of columns; what is not in it is as the page has it. */
export type Choice = Readonly<Record<string, boolean>>

export const isChosen = (
  { id, isOptional = false }: { id: string; isOptional?: boolean },
  choice: Choice,
): boolean => choice[id] ?? !isOptional

const defaultWidthPx = 120

export const widthOf = ({ width = '' }: { width?: string }): number =>
  Number(/(\d+)px/.exec(width)?.[1] ?? defaultWidthPx)

/**
 * Those that fit: the last ones are left out first, never one that was chosen or that has no title
 * (buttons). What was chosen and does not fit makes all columns narrower.
 */
export function fitting<T>(
  columns: readonly Named<T>[],
  choice: Choice,
  spacePx: number,
): Named<T>[] {
  const shown = columns.filter((each) => isChosen(each, choice))
  let neededPx = shown.reduce((sum, each) => sum + widthOf(each), 0)
  const left = [...shown]
  for (const each of [...shown].reverse()) {
    if (neededPx <= spacePx || left.length <= minColumns) break
    if (choice[each.id] === true || each.title === '') continue
    left.splice(left.indexOf(each), 1)
    neededPx -= widthOf(each)
  }
  return left.length === 0 ? [...columns] : left
}

const minColumns = 2

/** A card that fills the screen would show one row of the list. */
const maxOnCard = 8

/** Those of a card: the first ones, and what was chosen. */
export function onCard<T>(columns: readonly Named<T>[], choice: Choice): Named<T>[] {
  const shown = columns.filter((each) => isChosen(each, choice))
  const isAsked = (each: Named<T>) => choice[each.id] === true || each.title === ''
  const first = shown.filter((each) => each.isMinor !== true && !isAsked(each)).slice(0, maxOnCard)
  const left = shown.filter((each) => isAsked(each) || first.includes(each))
  return left.length === 0 ? [...columns] : left
}

/** For a grid: every column at least as wide as its share. */
export const templateOf = (columns: readonly { width?: string }[]): string =>
  columns.map((each) => `minmax(0, ${widthOf(each)}fr)`).join(' ')
