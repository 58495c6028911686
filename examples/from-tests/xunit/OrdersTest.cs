using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Text.Json;
using Xunit;

namespace Orders;

/// <summary>
/// Starts Sojourn on a journey file, once for all tests. The variable SOJOURN says where the
/// program is, when it is not on the PATH.
/// </summary>
public sealed class Run : IDisposable
{
    private static readonly string Sojourn =
        Environment.GetEnvironmentVariable("SOJOURN") ?? "sojourn";

    private readonly Process shop;
    private readonly string folder = Directory.CreateTempSubdirectory("orders-").FullName;

    public JsonElement Report { get; }

    public Run()
    {
        var (port, hooks) = (FreePort(), FreePort());
        shop = StartShop(port, hooks);
        try
        {
            Report = Load(port, hooks);
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    private JsonElement Load(int port, int hooks)
    {
        var file = Path.Combine(folder, "report.json");
        using var ran = Process.Start(new ProcessStartInfo(Sojourn, [
            "run", Path.Combine(Examples(), "from-tests", "orders.yaml"), "--quiet",
            "--target", $"http://127.0.0.1:{port}", "-e", $"LISTEN=127.0.0.1:{hooks}",
            "--output", Path.Combine(folder, "run.sojourn"), "--report", file,
        ]))!;
        ran.WaitForExit();
        // 0, 3 (void) and 99 (a threshold failed) leave a report, which says more than a number.
        Assert.Contains(ran.ExitCode, new[] { 0, 3, 99, 105 });
        return JsonDocument.Parse(File.ReadAllText(file)).RootElement;
    }

    /// <summary>A value of the report by its JSON pointer.</summary>
    public JsonElement At(string pointer) =>
        pointer.Split('/').Skip(1).Aggregate(Report, (value, part) =>
            value.ValueKind == JsonValueKind.Array
                ? value[int.Parse(part)]
                : value.GetProperty(part));

    public void Dispose()
    {
        shop.Kill();
        shop.Dispose();
        Directory.Delete(folder, recursive: true);
    }

    /// <summary>The system under test. Yours is there already: leave this out.</summary>
    private static Process StartShop(int port, int hooks)
    {
        var mock = Path.Combine(Examples(), "orders-mock.yaml");
        var start = new ProcessStartInfo(Sojourn, ["mock", mock, "--listen", $"127.0.0.1:{port}"]);
        start.Environment["HOOKS"] = $"http://127.0.0.1:{hooks}";
        var process = Process.Start(start)!;
        for (var tries = 0; tries < 600 && !Answers(port); tries++)
        {
            Thread.Sleep(50);
        }
        return process;
    }

    private static bool Answers(int port)
    {
        try
        {
            using var client = new TcpClient("127.0.0.1", port);
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    private static int FreePort()
    {
        using var probe = new TcpListener(IPAddress.Loopback, 0);
        probe.Start();
        return ((IPEndPoint)probe.LocalEndpoint).Port;
    }

    private static string Examples([CallerFilePath] string file = "") =>
        Path.GetFullPath(Path.Combine(Path.GetDirectoryName(file)!, "..", ".."));
}

/// <summary>Asserts on the JSON report: <c>dotnet test</c>.</summary>
public sealed class OrdersTest(Run run) : IClassFixture<Run>
{
    [Fact]
    public void TheFiguresMayBeBelieved()
    {
        var outcome = run.At("/verdict/outcome").GetString();
        Assert.True(outcome is "pass" or "fail", run.At("/verdict/causes").ToString());
    }

    [Fact]
    public void EveryThresholdHeld() =>
        Assert.All(run.At("/thresholds").EnumerateArray(), row =>
            Assert.True(row.GetProperty("held").GetBoolean(), row.ToString()));

    [Fact]
    public void NoOrderIsLost()
    {
        var started = run.At("/ledger/journeys_total/steady/started").GetInt64();
        Assert.True(started > 0);
        Assert.Equal(started, run.At("/ledger/journeys_total/steady/completed").GetInt64());
        Assert.Equal(0, run.At("/ledger/journeys_total/steady/lost").GetInt64());
    }

    [Fact]
    public void OrdersAreShippedSoon()
    {
        Assert.Equal("shipped", run.At("/journeys/0/stages/1/name").GetString());
        Assert.True(run.At("/journeys/0/stages/1/hop_ns/p95").GetInt64() < 10_000_000_000);
        Assert.True(run.At("/journeys/0/duration_ns/p99").GetInt64() < 15_000_000_000);
    }
}
