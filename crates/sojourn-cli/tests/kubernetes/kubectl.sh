#!/bin/sh
# A cluster as far as a run sees it, with this machine as its only node: in the folder $CLUSTER.
# (or that of the context). The coordinator's pod is a process that runs the words in $COORDINATOR.
set -eu
while [ $# -gt 0 ]; do
    case $1 in
    --context=/*) CLUSTER=${1#--context=} && shift ;;
    --context=* | --namespace=*) shift ;;
    *) break ;;
    esac
done
echo "$*" >>"$CLUSTER/calls"
cd "$CLUSTER"

reviews() {
    fields='"resource":"[a-z]*","subresource":"[a-z]*","verb":"[a-z]*"'
    grep -o "$fields" | while read -r line; do
        case $line in
        *"${DENIED:-nothing}"*) echo '{"status":{"allowed":false,"reason":"no rule"}}' ;;
        *) echo '{"status":{"allowed":true}}' ;;
        esac
    done
}

begin() {
    mkdir -p results
    if [ -n "${KILLED:-}" ]; then
        echo "$KILLED" >code
        touch log
        return
    fi
    setsid sh -c '
        echo $$ >pid
        "$SOJOURN" fleet locked results $COORDINATOR >log 2>&1 && code=0 || code=$?
        echo $code >code.part && mv code.part code
    ' >/dev/null 2>&1 </dev/null &
    while [ ! -f results/lock ] && [ ! -f code ]; do sleep 0.02; done
}

label='"app.kubernetes.io/component"'

job() {
    echo "{\"kind\":\"Job\",\"metadata\":{\"uid\":\"of-$1\",\"labels\":{$label:\"$1\"}}}"
}

pod() {
    index='"batch.kubernetes.io/job-completion-index"'
    leaving=${LEAVING:+"\"deletionTimestamp\":\"$LEAVING\","}
    echo "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"$1\",\"labels\":{$label:\"$2\",$index:\"$3\"},$leaving
        \"ownerReferences\":[{\"uid\":\"of-$2\"}]},\"spec\":{\"nodeName\":\"here\"},\"status\":{\"containerStatuses\":[
        {\"name\":\"$2\",\"state\":$4}]}}"
}

pods() {
    stuck='{"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}'
    state=${WAITING:-$stuck}
    if [ -f code ]; then
        state="{\"terminated\":{\"exitCode\":$(cat code),\"reason\":\"Ended\"}}"
    elif [ -f results/lock ]; then
        state='{"running":{}}'
    fi
    if [ -f deleted ] || [ ! -f owned.json ]; then
        echo '{"items":[]}'
    else
        echo "{\"items\":[$(job coordinator),$(job generator),$(pod the-coordinator coordinator "" "$state"),
            $(pod g1 generator 1 '{"running":{}}'),$(pod g0 generator 0 '{"running":{}}')]}"
    fi
}

in_pod() {
    # sojourn fleet COMMAND…
    shift 2
    command=$1
    shift
    case $command in
    interrupt)
        if [ -n "${HICCUP:-}" ] && [ ! -f hiccup ]; then
            touch hiccup
            echo "error: $HICCUP" >&2
            exit 1
        fi
        pkill -INT -P "$(cat pid)"
        ;;
    release) touch released ;;
    hand)
        file=${1#/}
        shift
        if [ "$*" = "--from 0" ]; then
            # A connection that is cut, and says so.
            head -c 1000 "$file"
            echo 'error: lost connection to pod' >&2
            exit 1
        fi
        "$SOJOURN" fleet hand "$file" "$@"
        ;;
    esac
}

case "$*" in
version*) echo '{"serverVersion":{"major":"1","minor":"34+","gitVersion":"v1.34.3"}}' ;;
"create --dry-run=client"*)
    cat >/dev/null
    echo '{"metadata":{"namespace":"load"}}'
    ;;
"create --dry-run=server"*)
    cat >tried.json
    echo 'Warning: would violate PodSecurity' >&2
    ;;
"create -f - -o json"*)
    cat >input.json
    if grep -q SelfSubjectAccessReview input.json; then
        reviews <input.json
    else
        mv input.json job.json
        if [ -n "${UNHEARD:-}" ]; then
            echo "error: $UNHEARD" >&2
            exit 1
        fi
        echo '{"metadata":{"uid":"1-2-3"}}'
    fi
    ;;
"create -f - -o name"*)
    cat >owned.json
    if [ -n "${REFUSED:-}" ]; then
        echo "Error from server (Forbidden): $REFUSED" >&2
        exit 1
    fi
    [ -z "${COORDINATOR:-}" ] || begin
    ;;
"get jobs,pods"*) pods ;;
"get job pay-1 "*)
    id=$(grep -o '"sojourn/run-id":"[a-z0-9]*"' job.json | head -n 1)
    [ -f deleted ] || echo "{\"metadata\":{\"labels\":{${THEIRS:-$id}}}}"
    ;;
"get job "*)
    results=$(grep -o '"sojourn/results":"[a-z]*"' owned.json | head -n 1)
    [ -f deleted ] || echo "{\"metadata\":{\"ownerReferences\":[{\"name\":\"pay-1\"}],
        \"labels\":{$results}},\"spec\":{\"completions\":2}}"
    ;;
"get jobs"*)
    echo '{"items":[{"metadata":{"name":"pay-1","creationTimestamp":"2026-11-23T10:00:00Z"},
        "status":{}}]}'
    ;;
"get events"*) echo '{"items":[{"message":"exceeded quota: pods"}]}' ;;
logs*)
    while [ ! -f code ] && [ ! -f deleted ]; do sleep 0.05; done
    cat log
    ;;
exec*)
    shift 5
    in_pod "$@"
    ;;
"delete job"*)
    touch deleted
    [ ! -f pid ] || pkill -KILL -P "$(cat pid)" || true
    ;;
*)
    echo "error: what is $*?" >&2
    exit 1
    ;;
esac
