// Televisions that are switched on, ask for a token, and tell every second or so that they are on.
definition.setTarget("http://testapp.example:9000");

definition.setArrivalPhases([
  { duration: 5 * 60, rate: 1.5, name: "evening" },
]);

definition.setTestOptions({ cluster: { sizing: "preflight", region: "eu-central-1" } });

definition.session("television", function (session) {
  var stations = session.ds.loadStructured("stations.csv");
  var station = session.ds.pickFrom(stations);

  session.post("/data/token.json?station=:token", {
    tag: "token",
    params: { id: station.get("id") },
    headers: { "Content-Type": "application/json; charset=utf-8" },
    payload: JSON.stringify({ station: station.get("name") }),
    extraction: { jsonpath: { token: "$.authorization.token" } },
  });
  session.assert("token", session.getVar("token"), "!=", "");

  var pings = session.ds.generate("random_number", { range: [280, 320] });
  session.times(pings, function (context) {
    context.get("/ping?token=:token&delay=100", {
      tag: "ping",
      params: { token: session.getVar("token") },
    });
    context.waitExp(1);
  });
});
