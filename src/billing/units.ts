// Amounts as plain numbers of the currency, for charts and counters. Not exact: never for billing.

export const inUnits = (nanos: bigint): number => Number(nanos) / 1e9
