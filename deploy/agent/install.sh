#!/bin/sh
# Installs the agent as a service from the folder this script lies in. May be run again at any time: it puts right
# what is missing and leaves the enrolment, the keys and the settings alone.
#
#   sudo ./install.sh --server https://knoc.example.com
#
# The token is read from KNOC_AGENT_TOKEN or from standard input, never from the command line, where every user of
# the host could read it.
set -eu

usage() {
  echo "usage: install.sh --server URL   (token in KNOC_AGENT_TOKEN or on standard input)" >&2
  exit 2
}

server=
while [ $# -gt 0 ]; do
  case $1 in
    --server) [ $# -ge 2 ] || usage; server=$2; shift 2 ;;
    --server=*) server=${1#--server=}; shift ;;
    *) usage ;;
  esac
done
case $server in
  http://*|https://*) ;;
  *) usage ;;
esac
# One line of a settings file: nothing that could become a second one.
case $server in
  *[!A-Za-z0-9:/.\[\]_-]*) echo "install.sh: the server's address holds a character that no address has" >&2; exit 2 ;;
esac
[ "$(id -u)" = 0 ] || { echo "install.sh: run it as root" >&2; exit 1; }
command -v node >/dev/null || { echo "install.sh: node is missing (apt install nodejs)" >&2; exit 1; }
command -v ipset >/dev/null || { echo "install.sh: ipset is missing (apt install ipset)" >&2; exit 1; }

for program in ss conntrack iptables-save; do
  command -v "$program" >/dev/null ||
    echo "install.sh: $program is missing: doors close, but what ends live connections is limited; see knoc-agent doctor" >&2
done

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
launcher=$root/agent/knoc-agent.mjs
[ -f "$launcher" ] || { echo "install.sh: $launcher is missing" >&2; exit 1; }
case $root/ in
  /root/*|/home/*) echo "install.sh: move $root to a place the service may read, such as /opt/knoc" >&2; exit 1 ;;
esac

id knoc-agent >/dev/null 2>&1 ||
  useradd --system --user-group --home-dir /var/lib/knoc-agent --no-create-home --shell /usr/sbin/nologin knoc-agent
install -d -m 0700 -o knoc-agent -g knoc-agent /var/lib/knoc-agent
install -d -m 0750 -o root -g knoc-agent /etc/knoc-agent
install -d -m 0755 -o root -g root /etc/knoc-agent/scripts
ln -sfn "$launcher" /usr/local/bin/knoc-agent

if [ ! -f /var/lib/knoc-agent/identity.json ]; then
  token=${KNOC_AGENT_TOKEN:-}
  if [ -z "$token" ]; then
    [ ! -t 0 ] || printf 'Token from the console: ' >&2
    read -r token
  fi
  [ -n "$token" ] || { echo "install.sh: no token" >&2; exit 1; }
  umask 077
  printf '%s\n' "$token" >/etc/knoc-agent/token.new
  chown root:knoc-agent /etc/knoc-agent/token.new
  chmod 0640 /etc/knoc-agent/token.new
  mv /etc/knoc-agent/token.new /etc/knoc-agent/token
fi
umask 077
{
  echo "KNOC_SERVER=$server"
  [ ! -f /etc/knoc-agent/token ] || echo "KNOC_AGENT_TOKEN_FILE=/etc/knoc-agent/token"
} >/etc/knoc-agent/agent.env.new
mv /etc/knoc-agent/agent.env.new /etc/knoc-agent/agent.env

install -m 0644 "$here/knoc-agent.service" "$here/knoc-sets.service" /etc/systemd/system/
systemctl daemon-reload
systemctl enable knoc-sets.service knoc-agent.service
systemctl start knoc-sets.service
systemctl restart knoc-agent.service
echo "The agent runs. Look: knoc-agent doctor; journalctl -u knoc-agent"
