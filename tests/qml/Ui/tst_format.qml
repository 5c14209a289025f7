import QtQuick
import QtTest
import Colibri.Ui

TestCase {
    name: "Format"

    readonly property string nb: "\u00a0"
    readonly property string dash: "–"

    // value → [size, rate, memory, speed, duration, timeLeft, percent, count]
    function test_eachFormatter_data() {
        return [
            {tag: "0", value: 0, size: "0 B", rate: "0 B/s", memory: "0.0 GiB", speed: "0 tokens/s", duration: "0.0 s",
                left: "about 5 s left", percent: "0 %", count: "0"},
            {tag: "1", value: 1, size: "1 B", rate: "1.0 B/s", memory: "0.0 GiB", speed: "1.0 tokens/s", duration: "1.0 s",
                left: "about 5 s left", percent: "100 %", count: "1"},
            {tag: "999", value: 999, size: "999 B", rate: "999 B/s", memory: "0.0 GiB", speed: "999 tokens/s",
                duration: "999.0 s", left: "about 17 min left", percent: "99,900 %", count: "999"},
            {tag: "1000", value: 1000, size: "1.00 kB", rate: "1.0 kB/s", memory: "0.0 GiB", speed: "1,000 tokens/s",
                duration: "17 min", left: "about 17 min left", percent: "100,000 %", count: "1,000"},
            {tag: "1e12", value: 1e12, size: "1,000 GB", rate: "1,000 GB/s", memory: "931.3 GiB",
                speed: "1,000,000,000,000 tokens/s", duration: "277,777,777 h 47 min", left: "about 277,777,777 h 45 min left",
                percent: "100,000,000,000,000 %", count: "1,000,000,000,000"},
            {tag: "NaN", value: NaN, size: "–", rate: "–", memory: "–", speed: "–", duration: "–", left: "–", percent: "–", count: "–"},
            {tag: "infinite", value: Infinity, size: "–", rate: "–", memory: "–", speed: "–", duration: "–", left: "–",
                percent: "–", count: "–"},
            {tag: "negative", value: -1, size: "–", rate: "–", memory: "–", speed: "–", duration: "–", left: "–", percent: "–",
                count: "–"}
        ]
    }
    // Expected words are written with plain spaces; the joint before a unit must be U+00A0.
    function same(actual, expected) {
        compare(actual.replace(/\u00a0/g, " "), expected)
        verify(!/\d (B|kB|MB|GB|TB|GiB|s|min|h|%|tokens)/.test(actual), "a unit may break off: " + actual)
    }
    function test_eachFormatter(data) {
        same(Format.size(data.value), data.size)
        same(Format.rate(data.value), data.rate)
        same(Format.memory(data.value), data.memory)
        same(Format.speed(data.value), data.speed)
        same(Format.duration(data.value), data.duration)
        same(Format.timeLeft(data.value), data.left)
        same(Format.percent(data.value), data.percent)
        same(Format.count(data.value), data.count)
    }
    function test_guideExamples() {
        same(Format.size(18.8e6), "18.8 MB")
        same(Format.size(167e9), "167 GB")
        same(Format.size(1121e9), "1,121 GB")
        same(Format.size(12.5e12), "12.5 TB")
        same(Format.size(3.62e9), "3.62 GB")
        same(Format.rate(6.8e9), "6.8 GB/s")
        same(Format.rate(24e6), "24 MB/s")
        same(Format.rateOf(4.1e9, 6.8e9), "4.1 of 6.8 GB/s")
        same(Format.rateOf(0, 6.8e9), "0 of 6.8 GB/s")
        same(Format.rateOf(3e6, 6.8e9), "3.0 MB/s of 6.8 GB/s")
        same(Format.rateOf(4.1e9, NaN), "4.1 GB/s")
        same(Format.sizeOf(102e9, 167e9), "102 of 167 GB")
        same(Format.memoryOf(54 * 1073741824, 62.6 * 1073741824), "54.0 of 62.6 GiB")
        same(Format.speed(2.44), "2.4 tokens/s")
        same(Format.speed(0.9249), "0.92 tokens/s")
        same(Format.speedRange(2.13, 2.77), "2.1–2.8 tokens/s")
        same(Format.speedRange(2.19, 2.71), "2.1–2.8 tokens/s")
        same(Format.durationRange(35.9, 44.1), "35–45 s")
        same(Format.durationRange(35, 44.9), "35–45 s")
        same(Format.durationRange(20, 179), "20 s–3.0 min")
        same(Format.duration(168.6), "168.6 s")
        same(Format.duration(21240), "5 h 54 min")
        same(Format.timeLeft(26), "about 25 s left")
        same(Format.timeLeft(45 * 60 + 20), "about 45 min left")
        same(Format.timeLeft(95 * 60 + 100), "about 1 h 35 min left")
        same(Format.percent(0.618), "62 %")
        same(Format.counted(1, "token", "tokens"), "1 token")
        same(Format.counted(2233, "token", "tokens"), "2,233 tokens")
        same(Format.exactBytes(18800640), "18,800,640 bytes")
    }
    function test_roundingCarries() {
        same(Format.size(999.6e3), "1.00 MB")
        same(Format.size(9.996e6), "10.0 MB")
        same(Format.rate(9.96e9), "10 GB/s")
        same(Format.speed(9.96), "10 tokens/s")
        same(Format.speed(0.999), "1.0 tokens/s")
        same(Format.duration(999.96), "17 min")
        same(Format.timeLeft(58), "about 1 min left")
    }
    function test_ranges() {
        compare(Format.speedRange(2.8, 2.1), Format.speedRange(2.1, 2.8))
        compare(Format.durationRange(45, 35), Format.durationRange(35, 45))
        same(Format.speedRange(2.3, 2.3), "about 2.3 tokens/s")
        same(Format.durationRange(40, 40), "about 40 s")
        same(Format.speedRange(NaN, 2), "–")
        same(Format.durationRange(1, Infinity), "–")
        same(Format.speedRange(0, 0), "about 0 tokens/s")
        same(Format.speedRange(0, 1e12), "0–1,000,000,000,000 tokens/s")
    }
}
