// A row of the sums of traffic, as the admin API gives it.
export type { TrafficRow } from '../../../src/admin/traffic/traffic-schema.ts'
