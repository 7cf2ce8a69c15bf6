#!/bin/sh
# Installs mini-cc in the container of a task: sh install.sh PACKAGE [FOLDER]. PACKAGE is what npm installs.
# Node.js comes into the same folder where there is none that is new enough, so that the task's own stays as it is.
set -eu
package=$1
folder=${2:-/installed-agent}
node_version=24.11.0

is_new_enough() {
  command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 &&
    node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 12) ? 0 : 1)'
}

fetch() {
  if command -v curl >/dev/null 2>&1; then curl -fsSL --retry 3 "$1" -o "$2"
  elif command -v wget >/dev/null 2>&1; then wget -q "$1" -O "$2"
  else apt-get update -qq && apt-get install -y -qq curl ca-certificates >/dev/null && curl -fsSL --retry 3 "$1" -o "$2"
  fi
}

mkdir -p "$folder"
if ! is_new_enough; then
  case $(uname -m) in
    x86_64) machine=x64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) echo "mini-cc: no Node.js for $(uname -m)" >&2; exit 1 ;;
  esac
  fetch "https://nodejs.org/dist/v$node_version/node-v$node_version-linux-$machine.tar.gz" "$folder/node.tar.gz"
  mkdir -p "$folder/node"
  tar -xzf "$folder/node.tar.gz" -C "$folder/node" --strip-components=1
  rm "$folder/node.tar.gz"
  PATH="$folder/node/bin:$PATH"
fi
npm install --prefix "$folder/package" --no-audit --no-fund --silent "$package"
node=$(command -v node)
cat >"$folder/mini-cc" <<END
#!/bin/sh
MINI_CC_HOME="\${MINI_CC_HOME:-$folder/home}" exec "$node" "$folder/package/node_modules/mini-cc/dist/cli.js" "\$@"
END
chmod +x "$folder/mini-cc"
