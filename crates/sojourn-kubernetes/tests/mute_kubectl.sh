#!/bin/sh
# A cluster whose pod says how long its run file is, and gives nothing of it, as if that were all.
case "$*" in
get*)
    part='"labels":{"app.kubernetes.io/component":"coordinator"}'
    echo "{\"items\":[{\"kind\":\"Job\",\"metadata\":{\"uid\":\"1\",$part}},
        {\"kind\":\"Pod\",\"metadata\":{\"name\":\"it\",\"ownerReferences\":[{\"uid\":\"1\"}],$part}}]}"
    ;;
*--sum) echo '{"bytes":1000,"sha256":"00"}' ;;
esac
