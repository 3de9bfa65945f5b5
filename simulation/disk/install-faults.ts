// For its effect: faults are installed before the modules that come after it begin.
import { installFaults } from './faulty-disk.ts'

const later = globalThis.setTimeout
/** The checkpoint comes within a run. */
const hurry = 100

installFaults()
globalThis.setTimeout = ((work: () => void, ms = 0) => later(work, ms / hurry)) as typeof later
