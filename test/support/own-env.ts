// What a program that a test starts may know of the environment of the tests: where programs are, where
// temporary files go, and which build of the gateway to run. The test gives everything else.
const passed = ['PATH', 'TMPDIR', 'MODEL_GATEWAY_DIST']
/** Such programs do not live long: the compilers for what runs often would cost more than they save. */
const shortLived = {
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_thresholdForOptimizeAfterWarmUp: '10000',
}

export const ownEnv: Readonly<Record<string, string>> = {
  ...shortLived,
  ...Object.fromEntries(
    passed.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  ),
}
