// Lets Node.js run the sources directly: `node --import ./scripts/walks/source-loader.mjs src/cli/index.ts`. Node alone
// cannot, because they use parameter properties, JSX, and texts and JSON as modules.
import {globSync, readFileSync} from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {transformSync} from 'rolldown/utils';

const READ_HERE = /\.(?:tsx?|md|json)$/;

/**
 * @param {string} url
 * @returns {string} the module as JavaScript
 */
function toJavaScript(url) {
  const file = fileURLToPath(url);
  const text = readFileSync(file, 'utf8');
  if (file.endsWith('.md')) return `export default ${JSON.stringify(text)};`;
  if (file.endsWith('.json')) return toModule(JSON.parse(text));
  const {code, errors} = transformSync(file, text, {jsx: {runtime: 'automatic'}});
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  return withGlobs(code, path.dirname(file));
}

/** Replaces `import.meta.glob` like a bundler does. */
function withGlobs(code, folder) {
  return code.replace(/\bimport\.meta\.glob\("([^"]+)",[^)]*\bimport: "(\w+)"[^)]*\)/g, (_, pattern, name) => {
    const files = globSync(pattern, {cwd: folder}).sort();
    const entries = files.map((file) => `${JSON.stringify(file)}: (await import(${JSON.stringify(file)})).${name}`);
    return `{${entries.join(', ')}}`;
  });
}

/** Exports the fields of the JSON as well, like a bundler does. */
function toModule(json) {
  const names = Object.keys(json).filter((name) => name !== 'default');
  const fields = names.map(
    (name, index) => `const v${index} = json[${JSON.stringify(name)}];\nexport {v${index} as ${JSON.stringify(name)}};`,
  );
  return [`const json = ${JSON.stringify(json)};`, 'export default json;', ...fields].join('\n');
}

module.registerHooks({
  load(url, context, nextLoad) {
    const isOurs = url.startsWith('file:') && !url.includes('/node_modules/');
    if (!isOurs || !READ_HERE.test(url)) return nextLoad(url, context);
    return {format: 'module', source: toJavaScript(url), shortCircuit: true};
  },
});
