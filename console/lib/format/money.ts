// Amounts of money as text: rounded half up to two decimals, or exact. Never through floating point.

interface Digits {
  sign: string
  whole: string
  places: string
}

function digitsOf(amount: string): Digits | undefined {
  const [, sign = '', whole, places = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? []
  return whole === undefined ? undefined : { sign, whole, places }
}

const grouped = (whole: string): string => whole.replace(/\B(?=(\d{3})+$)/g, ',')

/** Half up by size: 0.005 is 0.01, -0.005 is -0.01. */
function roundedTo(amount: string, decimals: number): string {
  const amounts = digitsOf(amount)
  if (amounts === undefined) return amount
  const { sign, whole, places } = amounts
  const cut = BigInt(whole + places.slice(0, decimals).padEnd(decimals, '0'))
  const value = cut + (Number(places[decimals] ?? '0') >= 5 ? 1n : 0n)
  const digits = String(value).padStart(decimals + 1, '0')
  const text = `${grouped(digits.slice(0, -decimals))}.${digits.slice(-decimals)}`
  return value === 0n ? text : `${sign}${text}`
}

/** Two decimals. */
export const moneyText = (amount: string): string => roundedTo(amount, 2)

/** The cost of one call: two decimals, below one cent two significant digits. */
export function costText(amount: string): string {
  const amounts = digitsOf(amount)
  if (amounts === undefined || /[1-9]/.test(amounts.whole)) return moneyText(amount)
  const first = amounts.places.search(/[1-9]/)
  return first < 2 ? moneyText(amount) : roundedTo(amount, first + 2)
}

/** All of its decimals, two at least. */
export function exactText(amount: string): string {
  const amounts = digitsOf(amount)
  if (amounts === undefined) return amount
  const { sign, whole, places } = amounts
  return `${sign}${grouped(whole)}.${places.replace(/0+$/, '').padEnd(2, '0')}`
}

const scale = 9

/** In billionths; undefined for what is no amount. */
function nanosOf(amount: string): bigint | undefined {
  const amounts = digitsOf(amount)
  if (amounts === undefined || amounts.places.length > scale) return undefined
  return BigInt(amounts.sign + amounts.whole + amounts.places.padEnd(scale, '0'))
}

/** Whether both are amounts and the first is the smaller one. */
export function isLess(a: string, b: string): boolean {
  const [one, two] = [nanosOf(a), nanosOf(b)]
  return one !== undefined && two !== undefined && one < two
}

/** What is left of an amount. */
export function less(amount: string, taken: string): string {
  const left = (nanosOf(amount) ?? 0n) - (nanosOf(taken) ?? 0n)
  const digits = String(left < 0n ? -left : left).padStart(scale + 1, '0')
  return `${left < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}
