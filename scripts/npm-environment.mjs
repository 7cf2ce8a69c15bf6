// What npm adds to the environment of its scripts does not belong in a program that a person started:
// `npm start --silent` would silence every npm that the agent runs, and `node` would mean ours.
import path from 'node:path';

/** Set by npm for each script; a person sets none of these by hand. */
const OF_NPM =
  /^(?:npm_(?:lifecycle_|package_|command$|execpath$|node_execpath$|config_(?:local_prefix|global_prefix|prefix|node_gyp|noproxy|init_module|npm_version|user_agent|userconfig|globalconfig|loglevel|cache|allow_scripts)$)|INIT_CWD$|COLOR$)/;

/**
 * The environment as it was before npm: without its variables and without its folders in PATH.
 * @param {Record<string, string | undefined>} env
 * @param {string} root the package's folder
 * @returns {Record<string, string | undefined>}
 */
export function environmentBeforeNpm(env, root) {
  if (env.npm_lifecycle_event === undefined) return {...env};
  const kept = {};
  for (const [name, value] of Object.entries(env)) if (!OF_NPM.test(name)) kept[name] = value;
  if (kept.NODE === env.npm_node_execpath) delete kept.NODE;
  if (env.PATH !== undefined) kept.PATH = pathBeforeNpm(env.PATH, root);
  return kept;
}

/** npm puts `node_modules/.bin` of the package and of every folder above it first, then its own node-gyp. */
function pathBeforeNpm(searchPath, root) {
  const added = new Set();
  for (let folder = root; ; folder = path.dirname(folder)) {
    added.add(path.join(folder, 'node_modules', '.bin'));
    if (folder === path.dirname(folder)) break;
  }
  return searchPath
    .split(path.delimiter)
    .filter((folder) => !added.has(folder) && !folder.endsWith('node-gyp-bin'))
    .join(path.delimiter);
}
