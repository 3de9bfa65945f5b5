// The database thread on a faulty disk. It does what it does at intervals without the wait.
import './install-faults.ts'
import '../../src/store/dialects/sqlite/worker.ts'
