import Foundation

/// `offhook report FILE`
enum ReportCommand {
    static func run(_ path: String) throws -> ExitStatus {
        let samples = try StatisticsSample.read(path: path)
        let title = "Call of \(URL(fileURLWithPath: path).lastPathComponent)"
        let page = path + ".html"
        do {
            try ReportPage(title: title, samples: samples).html.write(toFile: page, atomically: true, encoding: .utf8)
        } catch {
            throw FileFailure("\(page) cannot be written: \(error.localizedDescription)")
        }
        print("\(samples.count) samples are in \(page)")
        return .success
    }
}
