// What a program that a test starts may know of the environment of the tests: where programs are, where
// temporary files go, and which build of the gateway to run. The test gives everything else.
const passed = ['PATH', 'TMPDIR', 'MODEL_GATEWAY_DIST']

export const ownEnv: Readonly<Record<string, string>> = Object.fromEntries(
  passed.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  }),
)
