// The Python that tests run: TEST_PYTHON, which scripts/services makes with the official SDKs in it,
// else the machine's own.
const program = process.env['TEST_PYTHON'] ?? 'python3'

/** Looks for it without loading it, which would take seconds. */
function finds(name: string): boolean {
  if (Bun.which(program) === null) return false
  const code = `import importlib.util, sys; sys.exit(importlib.util.find_spec('${name}') is None)`
  return Bun.spawnSync([program, '-c', code], { stderr: 'ignore' }).success
}

const known = new Map<string, boolean>()

/** Whether a package is there; without a name, whether Python is. */
function has(name = 'json'): boolean {
  const isThere = known.get(name) ?? finds(name)
  known.set(name, isThere)
  return isThere
}

/** Says that something is left out for want of a package. */
function sayLeftOut(what: string, name: string): void {
  const how = `install the Python package ${name}, or set TEST_PYTHON as scripts/services does`
  console.error(`left out: ${what} (${how})`)
}

export const python = { program, has, sayLeftOut }
