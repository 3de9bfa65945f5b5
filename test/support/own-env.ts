// What a program that a test starts may know of the environment of the tests: where programs are, and
// which build of the gateway to run. Everything else is given by the test.
const passed = ['PATH', 'MODEL_GATEWAY_DIST']

export const ownEnv: Readonly<Record<string, string>> = Object.fromEntries(
  passed.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  }),
)
