// The door to declarations: their schemas, the check, and what they become.
export * from './declaration-check.ts'
export { asCidr, nearestName, parseDurationMs } from './declaration-fields.ts'
export * from './declaration-logs.ts'
export * from './declaration-media.ts'
export * from './declaration-prices.ts'
export * from './declaration-schemas.ts'
export * from './declaration-values.ts'
export * from './price-terms.ts'
