import process from 'node:process'
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import { layerRules } from './layer-rules.ts'

/**
 * Holds the imports against the layer rules. Parsed by swc, because the cruiser does not know TypeScript 7 and would
 * see nothing at all; so it also says how many files it saw.
 */
const folders = ['server', 'agent', 'web', 'machines', 'migrations', 'deploy']
const fewestFiles = 300

const { output } = await cruise(folders, {
  parser: 'swc',
  ruleSet: { forbidden: layerRules },
  validate: true,
  doNotFollow: { path: 'node_modules' },
  exclude: { path: '^web/dist/' },
  enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'], exportsFields: ['exports'] },
})
const { summary } = output as ICruiseResult
for (const { rule, from, to } of summary.violations) console.log(`${rule.name}: ${from} → ${to}`)
if (summary.totalCruised < fewestFiles)
  console.log(`Only ${summary.totalCruised} files were seen; the cruiser is blind.`)
else console.log(`${summary.totalCruised} files, ${summary.totalDependenciesCruised} imports`)
process.exit(summary.violations.length > 0 || summary.totalCruised < fewestFiles ? 1 : 0)
