# shellcheck shell=bash
# What the helpers of CI know of files: sourced by review and hook. Names of files are never printed as they are, and
# never become words of a shell: they are arguments and NUL-separated lists. bash 3.2 or later (macOS).

# begins FILE KEY reports whether a line of a YAML file begins with the key.
begins() {
  LC_ALL=C grep -qaE "^($(printf '\357\273\277'))?[\"']?$2[\"']?[ ]*:" < "$1"
}

# is_domain FILE tells a domain from other YAML.
is_domain() { [ -f "$1" ] && begins "$1" columns; }

# tracked LIST writes the specs that git tracks into a file, a NUL behind each: weir tells them from other YAML.
tracked() { weir check --tracked --print0 > "$1" || { fits; return 2; }; }

# fits says so where the weir on the path is of an earlier revision than this script.
fits() {
  command -v weir > /dev/null || return 0 # bash has said so
  weir check --help | grep -e --print0 > /dev/null ||
    echo "packaging/ci: $(weir version | head -n 1) is on the path, must be of the same revision as this script" >&2
}

# within SPEC FILE reports whether a YAML file or lock may be the spec or a file that the spec reads by its name: such a
# file lies in the folder of the spec or below it.
within() {
  local folder
  folder=$(dirname -- "$1")
  case $2 in *.yaml | *.yml | weir.lock | */weir.lock) ;; *) return 1 ;; esac
  [ "$folder" = . ] || case $2 in "${folder#./}"/*) ;; *) return 1 ;; esac
}

# argument FILE prints the file as weir takes it: -x would be a flag, and specs:x a built-in spec.
argument() {
  case $1 in
    -* | specs:*) printf './%s' "$1" ;;
    *) printf '%s' "$1" ;;
  esac
}

# name FILE prints the name of a file on one line.
name() { printf '%s' "$1" | tr '\n' '?' | plain; }

# plain prints its input without what Markdown or a terminal would take for more than text.
plain() { LC_ALL=C tr '`\000-\010\013-\037\177' "'????????????????????????????????"; }
